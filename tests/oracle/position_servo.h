// The position servo of cases/position-servo: its nine equations written by hand, integrated by CVODES. Square roots and limits are exact,
// with their corners. It shares no code with the engine.
#ifndef OD_ORACLE_POSITION_SERVO_H
#define OD_ORACLE_POSITION_SERVO_H

enum { SERVO_X, SERVO_V, SERVO_PA, SERVO_PB, SERVO_PP, SERVO_XV, SERVO_STATES = 9 };

// The states at the times i * row, i = 0 .. rows - 1, SERVO_STATES each. Returns 0, or -1 on failure.
int position_servo_solve(double tolerance, double row, int rows, double *x);

#endif
