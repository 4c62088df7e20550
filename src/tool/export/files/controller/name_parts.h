@parts@
