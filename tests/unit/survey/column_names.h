// Names of columns as loggers write them, each with its unit, its range in this unit, and the input or output of a machine that it
// means. The list was written before the similarity of names was tuned. Rows with an even index were used for tuning, rows with an odd
// index are held out.
#ifndef OD_TEST_COLUMN_NAMES_H
#define OD_TEST_COLUMN_NAMES_H

typedef struct column_name {
  const char *machine;  // folder of cases/
  const char *name, *unit;
  double low, high;
  const char *target;
} column_name;

static const column_name column_names[] = {
    {"fourbar-valve", "p_A_bar", "", 12, 140, "A.pressure"},
    {"fourbar-valve", "p_B", "bar", 10, 90, "B.pressure"},
    {"fourbar-valve", "PressureP", "MPa", 3, 16, "P.pressure"},
    {"fourbar-valve", "cyl_len_mm", "", 1500, 1990, "cylinder.length"},
    {"fourbar-valve", "CylinderStroke", "mm", 1500, 1990, "cylinder.length"},
    {"fourbar-valve", "Tank pressure", "bar", 1, 3, "T.pressure"},
    {"fourbar-valve", "crankPivotAngle", "deg", 10, 130, "crank_pivot.angle"},
    {"fourbar-valve", "phi_rocker_pivot", "deg", -40, 60, "rocker_pivot.angle"},
    {"fourbar-valve", "Uref", "V", -5, 5, "U_ref"},
    {"fourbar-valve", "u_ref_mV", "", -5000, 5000, "U_ref"},
    {"fourbar-valve", "Q_pump", "l/min", 20, 60, "pump.flow"},
    {"fourbar-valve", "v_cyl", "mm/s", -200, 200, "cylinder.rate"},
    {"fourbar-valve", "relief valve flow", "l/min", 0, 40, "relief.flow"},
    {"fourbar-valve", "CYL_FORCE_KN", "", -40, 80, "cylinder.force"},
    {"excavator", "lift_cyl_press_A", "bar", 5, 280, "lift.A.pressure"},
    {"excavator", "LiftRamLength_m", "", 1.1, 1.8, "lift.ram.length"},
    {"excavator", "crowd.pA", "bar", 5, 250, "crowd.A.pressure"},
    {"excavator", "crowd_ram_len", "mm", 1200, 2000, "crowd.ram.length"},
    {"excavator", "CurlPressB", "bar", 2, 180, "curl.B.pressure"},
    {"excavator", "curl ram speed", "mm/s", -300, 400, "curl.ram.rate"},
    {"excavator", "ang_boom_foot", "deg", -30, 60, "boom_foot.angle"},
    {"excavator", "stickPin_deg", "", -120, -30, "stick_pin.angle"},
    {"excavator", "pump_q_lpm", "", 0, 300, "pump.flow"},
    {"excavator", "P_sys", "bar", 20, 300, "P.pressure"},
    {"excavator", "lift_target_pos", "m", 1.1, 1.8, "lift_target"},
    {"excavator", "curl_tgt", "mm", 1100, 1700, "curl_target"},
    {"excavator", "Lift.Valve.SpoolPos", "", -1, 1, "lift.valve.spool"},
    {"excavator", "crowd_vlv_spl", "%", -100, 100, "crowd.valve.spool"},
    {"load-sensing", "LS_press", "bar", 5, 220, "LS.pressure"},
    {"load-sensing", "pLS", "bar", 5, 220, "LS.pressure"},
    {"load-sensing", "pump_press_P", "bar", 20, 240, "P.pressure"},
    {"load-sensing", "BoomLeverCmd", "%", -100, 100, "boom_lever"},
    {"load-sensing", "arm_joystick_lever", "", -1, 1, "arm_lever"},
    {"load-sensing", "one_ram_stroke", "mm", 100, 900, "one.ram.length"},
    {"load-sensing", "p_two_A", "bar", 5, 200, "two.A.pressure"},
    {"load-sensing", "Two.B.Prs", "kPa", 500, 20000, "two.B.pressure"},
    {"load-sensing", "boomGuidePos", "m", -0.2, 0.6, "boom_guide.position"},
    {"load-sensing", "arm_guide_vel", "m/s", -0.5, 0.5, "arm_guide.rate"},
    {"position-servo", "xCyl", "mm", 200, 700, "cylinder.length"},
    {"position-servo", "setpoint_wanted", "mm", -200, 300, "wanted"},
    {"position-servo", "guide_pos", "mm", -200, 300, "guide.position"},
    {"position-servo", "vGuide", "m/s", -0.6, 0.6, "guide.rate"},
    {"position-servo", "pressure A side", "bar", 5, 180, "A.pressure"},
    {"position-servo", "B-side pressure (bar)", "", 5, 180, "B.pressure"},
    {"position-servo", "pSupply_P", "bar", 150, 210, "P.pressure"},
    {"position-servo", "valve_spool_pos", "", -1, 1, "valve.spool"},
    {"press", "Cyl force", "kN", -20, 900, "cylinder.force"},
    {"press", "ram_guide_position", "mm", -300, 10, "guide.position"},
    {"press", "work_piece_F", "kN", 0, 900, "workpiece.force"},
    {"press", "press_S", "bar", 5, 250, "S.pressure"},
    {"press", "lever_in", "", -1, 1, "lever"},
    {"press", "cylLength", "mm", 500, 900, "cylinder.length"},
    {"crane", "heel_angle", "deg", 0, 80, "heel.angle"},
    {"crane", "omega_elbow", "rad/s", -1, 1, "elbow.rate"},
    {"crane", "LiftLen", "m", 0.9, 1.6, "lift.length"},
    {"crane", "tilt_cyl_length", "mm", 800, 1300, "tilt.length"},
    {"crane", "M_lift_drive", "N m", -5000, 9000, "lift_drive"},
    {"crane", "tiltDriveTorque", "N m", -5000, 9000, "tilt_drive"},
};
enum { COLUMN_NAMES = sizeof column_names / sizeof *column_names };

#endif
