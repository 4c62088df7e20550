// Scenes of trials, and the assembly of a seed's machine: a scene, attached parts, blocks, and the classes assigned to this seed.
#include "calibration/trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef char text[TRIAL_NAME];

// ---- scenes

// Parts that act on the slider, which a cylinder moves.
static void add_cylinder(trial *t, double mass, bool is_boom) {
  text a, b, base;
  char friction[512];
  trial_supply(t);
  trial_name(t, "ram", t->cylinder), trial_name(t, "base", base);
  double bore = sqrt(mass / 1e5) * trial_uniform(t, 0.6, 1.4), rod = bore * trial_uniform(t, 0.45, 0.7),
         area = 0.785 * bore * bore, speed = trial_decades(t, 0.1, 0.8);
  trial_volume(t, area * trial_decades(t, 0.03, 0.5), trial_uniform(t, 3e6, 7e6), a);
  trial_volume(t, area * trial_decades(t, 0.03, 0.5), trial_uniform(t, 3e6, 7e6), b);
  double stroke = trial_decades(t, 0.1, 0.6),
         distance = is_boom ? hypot(cos(t->boom_angle) - 0.6, sin(t->boom_angle) + 0.5) : 1.1,
         closed = distance - stroke * trial_uniform(t, 0.3, 0.7);
  trial_put(t, "ground.points", is_boom ? "    %s: [0.6, -0.5]\n" : "    %s: [-1, 0.05]\n", base);
  snprintf(t->cylinder_between, sizeof t->cylinder_between, "ground.%s, %s.%s", base, t->slider_body,
           is_boom ? "ram" : "eye");
  snprintf(t->cylinder_chambers, sizeof t->cylinder_chambers, "%s, %s", a, b);
  t->cylinder_closed = closed, t->cylinder_stroke = stroke;
  friction[0] = '\0';
  char law[480];
  if (trial_chance(t, 0.6)) {
    trial_friction(t, false, area * 3e5, law, sizeof law);
    snprintf(friction, sizeof friction, ", friction: {%s}", law);
  }
  trial_put(
      t, "cylinders",
      "  %s: {between: [%s], chambers: [%s], bore: %.6g, rod: %.6g, closed: %.9g, stroke: %.9g, leakage: %.6g, stops: {stiffness: %.6g, damping: %.6g}%s}\n",
      t->cylinder, t->cylinder_between, t->cylinder_chambers, bore, rod, closed, stroke, trial_decades(t, 1e-14, 1e-12),
      mass * trial_decades(t, 1e4, 1e6), trial_uniform(t, 0.2, 3), friction);
  text length;
  snprintf(length, sizeof length, "%.50s.length", t->cylinder);
  trial_add_edge(t, length, "", closed, 0);
  trial_add_edge(t, length, "", closed + stroke, 0);
  trial_add_sensor(t, 2, "%s.rate", t->cylinder);
  trial_add_output(t, "%s.force", t->cylinder);
  trial_valve(t, a, b, area * speed);
}

static void servo_axis(trial *t) {
  double mass = trial_decades(t, 30, 2000);
  bool vertical = false;
  trial_slider(t, vertical, mass);
  add_cylinder(t, mass, false);
}

static void boom(trial *t) {
  t->boom_angle = trial_uniform(t, 0.1, 0.5);
  double mass = trial_decades(t, 50, 800);
  text body, joint;
  trial_name(t, "boom", body), trial_name(t, "heel", joint);
  trial_put(t, "gravity", "[0, -9.81]");
  trial_put(t, "bodies", "  %s: {beam: {mass: %.6g, length: %.6g}, points: {ram: [1, 0], eye: [1.5, 0.1]}}\n", body,
            mass, trial_uniform(t, 1.6, 3));
  trial_put(t, "joints", "  %s: {type: revolute, between: [ground, %s.start], damping: %.6g}\n", joint, body,
            mass * trial_decades(t, 0.02, 1));
  trial_put(t, "initial", "  %s.angle: %.6g\n", joint, t->boom_angle);
  snprintf(t->slider, sizeof t->slider, "%s", joint), snprintf(t->slider_body, sizeof t->slider_body, "%s", body);
  t->slider_turns = true;
  trial_add_sensor(t, 1, "%s.angle", joint);
  trial_add_output(t, "%s.angle", joint);
  trial_add_output(t, "%s.rate", joint);
  add_cylinder(t, 4 * mass, true);
}

static void telescope(trial *t) {
  text a, name, valve, command;
  double mass = trial_decades(t, 100, 2000), area = mass * 9.81 / trial_uniform(t, 3e6, 6e6);
  trial_slider(t, true, mass);
  trial_put(t, "gravity", "[0, -9.81]");
  trial_supply(t);
  trial_volume(t, trial_decades(t, 1e-4, 1e-3), mass * 9.81 / area, a);
  trial_put(t, "ground.points", "    foot: [0.1, -1]\n");
  trial_name(t, "hoist", name), trial_name(t, "valve", valve);
  trial_put(
      t, "telescopic_cylinders",
      "  %s: {between: [ground.foot, %s.eye], chamber: %s, closed: %.6g, soft: %.6g, area_1: %.6g, stroke_1: %.6g, area_2: %.6g, stroke_2: 0.5}\n",
      name, t->slider_body, a, 0.95, trial_decades(t, 2e-3, 3e-2), area, trial_uniform(t, 0.08, 0.2), area * 0.6);
  trial_command(t, false, command);
  trial_put(t, "proportional_valves",
            "  %s: {command: %s, between: [P, T], a: %s, nominal_flow: %.6g, frequency: %.6g}\n", valve, command, a,
            area * trial_decades(t, 0.05, 0.4), trial_decades(t, 100, 600));
  trial_add_output(t, "%s.force", name);
}

static void transmission(trial *t) {
  text a, b, name, command;
  double displacement = trial_decades(t, 3e-6, 3e-5), inertia = displacement * 1e5 * trial_decades(t, 0.03, 1);
  trial_rotor(t, inertia);
  trial_supply(t);
  trial_volume(t, trial_decades(t, 1e-4, 1e-3), trial_uniform(t, 2e6, 6e6), a);
  trial_volume(t, trial_decades(t, 1e-4, 1e-3), trial_uniform(t, 2e6, 6e6), b);
  trial_name(t, "motor", name);
  const char *c = TRIAL_CHOOSE(t, "motor", "displacement unit");
  char setting[TRIAL_NAME + 16] = "";
  if (trial_chance(t, 0.4)) {
    trial_command(t, true, command);
    snprintf(setting, sizeof setting, ", setting: %s", command);
  }
  if (strcmp(c, "motor") == 0)
    trial_put(t, "motors", "  %s: {joint: %s, between: [%s, %s], displacement: %.6g, leakage: %.6g, viscous: %.6g%s}\n",
              name, t->slider, a, b, displacement, trial_decades(t, 1e-13, 5e-12), displacement * 1e4, setting);
  else
    trial_put(
        t, "displacement_units",
        "  %s: {joint: %s, between: [%s, %s], displacement: %.6g, slip: 3e-9, drag: 5e4, dry: 0.03, breakaway: %.6g, slow: %.6g%s}\n",
        name, t->slider, a, b, displacement, displacement * 3e5, trial_decades(t, 0.2, 5), setting);
  trial_add_output(t, "%s.flow", name);
  trial_valve(t, a, b, displacement * trial_uniform(t, 20, 100));
}

static void load_sensing(trial *t) {
  text a, b, command;
  double mass = trial_decades(t, 50, 2000), area = mass / 1e5 * trial_uniform(t, 0.5, 2),
         flow = area * trial_decades(t, 0.1, 0.6);
  trial_slider(t, false, mass);
  trial_oil(t);
  trial_put(t, "volumes", "  P: {volume: %.6g}\n  LS: {volume: %.6g}\n", trial_decades(t, 2e-4, 2e-3),
            trial_decades(t, 1e-5, 1e-4));
  trial_put(t, "initial", "  P.pressure: %.6g\n  LS.pressure: %.6g\n", trial_uniform(t, 2e6, 8e6), 3e5);
  trial_add_node(t, "P");
  trial_add_output(t, "P.pressure"), trial_add_output(t, "LS.pressure");
  trial_put(
      t, "sensing_pumps",
      "  pump: {to: P, load: LS, flow: %.6g, margin: %.6g, cutoff: %.6g, range: %.6g, leakage: 2e-12, time_constant: %.6g}\n",
      1.5 * flow, trial_uniform(t, 1e6, 2.5e6), trial_uniform(t, 1.5e7, 2.2e7), trial_uniform(t, 3e5, 1e6),
      trial_decades(t, 1e-2, 4e-2));
  trial_put(t, "reliefs", "  relief: {between: [P, T], set: 2.3e7, slope: 1e-9}\n");
  trial_put(t, "orifices", "  bleed: {between: [LS, T], area: %.6g, discharge: 0.65}\n", trial_decades(t, 1e-7, 5e-7));
  trial_volume(t, area * trial_decades(t, 0.05, 0.5), trial_uniform(t, 1e6, 4e6), a);
  trial_volume(t, area * trial_decades(t, 0.05, 0.5), trial_uniform(t, 1e6, 4e6), b);
  trial_put(t, "ground.points", "    base: [-1, 0.05]\n");
  trial_put(
      t, "cylinders",
      "  ram: {between: [ground.base, %s.eye], chambers: [%s, %s], areas: [%.6g, %.6g], closed: 0.9, stroke: %.6g, friction: {law: coulomb, Fc: %.6g, vs: 0.01, viscous: %.6g}}\n",
      t->slider_body, a, b, area, 0.6 * area, trial_uniform(t, 0.35, 0.6), area * 2e5, area * 1e6);
  trial_command(t, false, command);
  trial_put(
      t, "sensing_valves",
      "  section: {command: %s, between: [P, T], to: [%s, %s], sense: LS, nominal_flow: %.6g, nominal_drop: 8e5, set: 8e5, range: %.6g, frequency: %.6g, time_constant: %.6g}\n",
      command, a, b, flow, trial_uniform(t, 2e5, 8e5), trial_decades(t, 60, 400), trial_decades(t, 3e-3, 1.5e-2));
  trial_add_output(t, "pump.flow");
}

static void circuit(trial *t) {
  trial_supply(t);
  int count = 0, parts = 1 + trial_pick(t, 3);
  while (trial_circuit_parts[count]) count++;
  for (int i = 0; i < parts; i++) trial_circuit_part(t, trial_choose(t, trial_circuit_parts, count));
}

static void loose_slider(trial *t) {
  t->is_loose = true;
  if (trial_chance(t, 0.5)) {
    bool vertical = trial_chance(t, 0.5);
    if (vertical) trial_put(t, "gravity", "[0, -9.81]");
    trial_slider(t, vertical, trial_decades(t, 0.5, 20));
    if (vertical) trial_mechanism_part(t, TRIAL_CHOOSE(t, "stop", "contact", "spring", "rope"));
  } else {
    trial_rotor(t, trial_decades(t, 0.02, 1));
  }
  trial_mechanism_part(t, TRIAL_CHOOSE(t, "force", "torque"));
  int count = 0, parts = trial_pick(t, 3);
  while (trial_mechanism_parts[count]) count++;
  for (int i = 0; i < parts; i++) trial_mechanism_part(t, trial_choose(t, trial_mechanism_parts, count));
}

// A ball that falls on a plane.
static void ball(trial *t) {
  double height = trial_decades(t, 0.02, 1), slope = trial_chance(t, 0.5) ? 0 : trial_uniform(t, -0.5, 0.5),
         mass = trial_decades(t, 0.2, 20);
  const char *kind = TRIAL_CHOOSE(t, "planar", "free", "prismatic ball");
  trial_put(t, "gravity", "[0, -9.81, 0]");
  trial_put(
      t, "bodies",
      "  ball: {box: {mass: %.6g, size: [0.2, 0.2, 0.2]}, points: {toe: [%.4g, -0.1, 0], heel: [-0.1, -0.1, 0]}}\n",
      mass, trial_uniform(t, 0, 0.1));
  if (kind[1] == 'r' && kind[0] == 'p') {
    trial_put(t, "joints", "  fall: {type: prismatic, between: [ground, ball], axis: [0, 1, 0]}\n");
    trial_put(t, "initial", "  fall.position: %.6g\n  fall.rate: %.6g\n", 0.1 + height, trial_uniform(t, -1, 1));
    trial_add_output(t, "fall.position"), trial_add_output(t, "fall.rate");
    slope = 0;
    trial_add_edge(t, "ball.toe.y", "", 0, 0);
  } else if (kind[0] == 'p') {
    trial_put(t, "joints", "  fall: {type: planar, between: [ground, ball], axis: [0, 0, 1]}\n");
    trial_put(t, "initial", "  fall.position1: 0\n  fall.position2: %.6g\n  fall.angle3: %.4g\n  fall.rate1: %.4g\n",
              0.15 + height, trial_uniform(t, -0.3, 0.3), trial_uniform(t, -1, 1));
    trial_add_output(t, "fall.position2"), trial_add_output(t, "fall.angle3");
  } else {
    trial_put(t, "joints", "  fall: {type: free, between: [ground, ball]}\n");
    trial_put(
        t, "initial",
        "  fall.x: 0\n  fall.y: %.6g\n  fall.z: 0\n  fall.angle1: 0.1\n  fall.angle2: 0\n  fall.angle3: %.4g\n  fall.vx: %.4g\n",
        0.15 + height, trial_uniform(t, -0.3, 0.3), trial_uniform(t, -1, 1));
    trial_add_output(t, "ball.centre.y"), trial_add_output(t, "ball.wz");
  }
  double k = mass * trial_decades(t, 1e3, 1e6);
  for (int i = 0; i < 2; i++)
    trial_put(
        t, "contacts",
        "  hit%d: {at: ball.%s, normal: [%.4g, 1, 0], stiffness: %.6g, damping: %.4g, friction: %.4g, slip: %.4g}\n", i,
        i ? "heel" : "toe", slope, k, trial_uniform(t, 0, 1.5), trial_uniform(t, 0, 0.6), trial_decades(t, 2e-3, 5e-2));
  if (slope == 0) trial_add_edge(t, "ball.toe.y", "", 0, 0), trial_add_edge(t, "ball.heel.y", "", 0, 0);
  trial_add_output(t, "hit0.force"), trial_add_output(t, "ball.centre.y"), trial_add_output(t, "energy.kinetic");
  trial_add_sensor(t, 3, "ball.centre.y");
  trial_add_sensor(t, 0.5, "ball.centre.vy");
}

static void linkage(trial *t) {
  const char *kind = TRIAL_CHOOSE(t, "chain", "four-bar", "slider-crank", "rod");
  trial_put(t, "gravity", "[0, -9.81]");
  if (strcmp(kind, "chain") == 0) {
    int links = 1 + trial_pick(t, 2);
    bool is_chaotic = trial_chance(t, 0.3);  // long enough for chaos
    if (is_chaotic) links = 2 + trial_pick(t, 2), t->time *= 10;
    for (int i = 0; i < links; i++) {
      trial_put(t, "bodies", "  link%d: {beam: {mass: %.6g, length: %.6g}, points: {eye: [0.2, 0.05]}}\n", i,
                trial_uniform(t, 0.5, 4), trial_uniform(t, 0.3, 0.9));
      char parent[32] = "ground";
      if (i) snprintf(parent, sizeof parent, "link%d.end", i - 1);
      trial_put(t, "joints", "  j%d: {type: revolute, between: [%s, link%d.start], damping: %.6g}\n", i, parent, i,
                is_chaotic ? 1e-4 : trial_decades(t, 0.01, 0.5));
      trial_put(t, "initial", "  j%d.angle: %.6g\n", i,
                is_chaotic ? trial_uniform(t, 1, 2) : trial_uniform(t, -1.5, 0.5) - (i ? 0 : 0.8));
    }
    snprintf(t->slider, sizeof t->slider, "j0"), snprintf(t->slider_body, sizeof t->slider_body, "link0");
    trial_put(t, "springs", "  s: {between: [ground.far, link0.end], stiffness: %.6g, damping: %g, length: 1}\n",
              trial_decades(t, 5, is_chaotic ? 10 : 500), is_chaotic ? 1e-3 : 0.5);
    trial_put(t, "ground.points", "    far: [1.5, 0.5]\n");
    trial_add_output(t, "j0.angle"), trial_add_output(t, "j0.rate"), trial_add_output(t, "link%d.end.y", links - 1);
    trial_add_sensor(t, 0.5, "j0.angle"), trial_add_sensor(t, 0.2, "j0.rate");
  } else {
    trial_put(t, "ground.points", "    A: [0, 0]\n    B: [%.6g, 0]\n", trial_uniform(t, 0.95, 1.05));
    trial_put(t, "bodies", "  crank: {beam: {mass: %.6g, length: 0.3}, points: {eye: [0.2, 0.05]}}\n",
              trial_uniform(t, 0.5, 3));
    trial_put(t, "joints", "  A: {type: revolute, between: [ground.A, crank.start], damping: %.6g}\n",
              trial_decades(t, 0.01, 1));
    trial_put(t, "initial", "  A.angle: %.6g\n  A.rate: %.6g\n", trial_uniform(t, 0.4, 1.2), trial_uniform(t, -6, 6));
    if (strcmp(kind, "slider-crank") == 0) {
      trial_put(t, "bodies", "  coupler: {beam: {mass: 1, length: 1}}\n  slide: {mass: %.6g}\n",
                trial_uniform(t, 0.5, 4));
      trial_put(
          t, "joints",
          "  C: {type: revolute, between: [crank.end, coupler.start]}\n  S: {type: prismatic, between: [ground.A, slide], axis: [1, 0, 0]}\n  D: {type: revolute, between: [coupler.end, slide], cut: true}\n");
      trial_put(t, "initial", "  C.angle: about -0.8\n  S.position: about 1.2\n");
      trial_add_output(t, "S.position");
    } else {
      trial_put(t, "bodies", "  rocker: {beam: {mass: %.6g, length: %.6g}}\n", trial_uniform(t, 0.5, 3),
                trial_uniform(t, 0.6, 0.75));
      trial_put(t, "joints", "  B: {type: revolute, between: [ground.B, rocker.start]}\n");
      trial_put(t, "initial", "  B.angle: about 1.9\n");
      if (strcmp(kind, "rod") == 0) {
        trial_put(t, "rods", "  tie: {between: [crank.end, rocker.end], length: %.6g}\n", trial_uniform(t, 0.9, 1.05));
      } else {
        trial_put(t, "bodies", "  coupler: {beam: {mass: 1, length: %.6g}}\n", trial_uniform(t, 0.9, 1.05));
        trial_put(
            t, "joints",
            "  C: {type: revolute, between: [crank.end, coupler.start]}\n  D: {type: revolute, between: [coupler.end, rocker.end]}\n");
        trial_put(t, "initial", "  C.angle: about -0.5\n");
      }
      trial_add_output(t, "B.angle");
    }
    snprintf(t->slider, sizeof t->slider, "A"), snprintf(t->slider_body, sizeof t->slider_body, "crank");
    trial_add_output(t, "A.angle"), trial_add_output(t, "A.rate");
    trial_add_sensor(t, 0.1, "A.rate");
  }
  t->slider_turns = true, t->is_loose = true;
  text command;
  trial_command(t, false, command);
  trial_put(t, "torques", "  drive: {joint: %s, value: %.6g Nm %s}\n", t->slider, trial_decades(t, 0.5, 10), command);
}

// Bodies in space with joints of every kind, held by springs.
static void space(trial *t) {
  const char *kind = TRIAL_CHOOSE(t, "universal", "spherical", "cylindrical", "screw", "fixed", "free spring");
  trial_put(t, "gravity", "[0, -9.81, 0.5]");
  trial_put(t, "ground.points", "    up: [0.2, 1, 0.3]\n    side: [1, 0.2, -0.8]\n");
  trial_put(
      t, "bodies",
      "  box: {box: {mass: %.6g, size: [0.3, 0.5, 0.2], centre: [0.2, -0.1, 0]}, points: {p: [0.5, 0.1, 0.1], eye: [0.4, -0.2, 0.1]}}\n",
      trial_decades(t, 1, 20));
  if (strcmp(kind, "universal") == 0) {
    trial_put(t, "joints", "  J: {type: universal, between: [ground, box], axes: [[0, 0, 1], [0, 1, 0]]}\n");
    trial_put(t, "initial", "  J.angle1: %.4g\n  J.angle2: %.4g\n  J.rate1: %.4g\n", trial_uniform(t, -0.5, 0.5),
              trial_uniform(t, -0.5, 0.5), trial_uniform(t, -2, 2));
    trial_add_output(t, "J.angle1"), trial_add_output(t, "J.rate2");
  } else if (strcmp(kind, "spherical") == 0) {
    trial_put(t, "joints", "  J: {type: spherical, between: [ground, box]}\n");
    trial_put(t, "initial", "  J.angle1: 0.1\n  J.angle2: %.4g\n  J.angle3: -0.2\n  J.rate1: %.4g\n",
              trial_uniform(t, -0.5, 0.5), trial_uniform(t, -4, 4));
  } else if (strcmp(kind, "cylindrical") == 0) {
    trial_put(t, "joints", "  J: {type: cylindrical, between: [ground, box], axis: [0, 0, 1]}\n");
    trial_put(t, "initial", "  J.position1: 0\n  J.angle2: %.4g\n  J.rate2: %.4g\n", trial_uniform(t, -0.5, 0.5),
              trial_uniform(t, -4, 4));
    trial_add_output(t, "J.position1"), trial_add_output(t, "J.angle2");
  } else if (strcmp(kind, "screw") == 0) {
    trial_put(t, "joints", "  J: {type: screw, between: [ground, box], axis: [0, 1, 0.2], lead: %.4g}\n",
              trial_decades(t, 0.005, 0.2));
    trial_put(t, "initial", "  J.angle: %.4g\n", trial_uniform(t, -0.5, 0.5));
    trial_add_output(t, "J.angle"), trial_add_output(t, "J.rate");
  } else if (strcmp(kind, "fixed") == 0) {
    trial_put(t, "bodies", "  arm: {beam: {mass: 2, length: 0.5}}\n");
    trial_put(
        t, "joints",
        "  R: {type: revolute, between: [ground, arm.start], axis: [0.1, 0.2, 1]}\n  F: {type: fixed, between: [arm.end, box]}\n");
    trial_put(t, "initial", "  R.angle: %.4g\n  R.rate: %.4g\n", trial_uniform(t, -1.5, 0), trial_uniform(t, -2, 2));
    trial_add_output(t, "R.angle"), trial_add_output(t, "R.rate");
  } else {
    trial_put(t, "joints", "  J: {type: free, between: [ground, box]}\n");
    trial_put(t, "initial", "  J.x: 0\n  J.y: 0\n  J.z: 0\n  J.angle1: 0.1\n  J.angle2: 0.2\n  J.angle3: 0.1\n");
    trial_put(t, "springs", "  third: {between: [ground.side, box.centre], stiffness: %.6g, damping: 2, length: 1}\n",
              trial_decades(t, 30, 3000));
  }
  trial_put(t, "springs", "  s1: {between: [ground.up, box.p], stiffness: %.6g, damping: %.4g, length: %.4g}\n",
            trial_decades(t, 30, 3000), trial_decades(t, 0.3, 10), trial_uniform(t, 0.6, 1));
  text name, command;
  trial_command(t, false, command);
  trial_name(t, "push", name);
  trial_put(t, "forces", "  %s: {at: box.eye, value: %.6g N %s, direction: [1, 0.3, -0.5]}\n", name,
            trial_decades(t, 3, 60), command);
  if (trial_chance(t, 0.4))
    trial_put(t, "ropes", "  sling: {between: [ground.side, box.eye], length: %.6g, stiffness: %.6g, damping: 0.5}\n",
              trial_uniform(t, 0.8, 1.3), trial_decades(t, 300, 3e4));
  trial_add_output(t, "box.p.x"), trial_add_output(t, "box.p.vy"), trial_add_output(t, "box.centre.z"),
      trial_add_output(t, "s1.force");
  trial_add_sensor(t, 2, "box.p.x"), trial_add_sensor(t, 0.5, "box.p.vy");
}

static void blocks_alone(trial *t) {
  int count = 0, length = 3 + trial_pick(t, 5);
  while (trial_block_classes[count]) count++;
  trial_block(t, "first-order");
  for (int i = 0; i < length; i++) trial_block(t, trial_choose(t, trial_block_classes, count));
  for (int i = t->signals - 1; i >= 0 && t->outputs < 6; i--) trial_add_output(t, "%s", t->signal[i]);
}

typedef struct scene {
  const char *name;
  void (*add)(trial *t);
} scene;
static const scene scenes[] = {{"servo axis", servo_axis},
                               {"boom", boom},
                               {"telescopic cylinder", telescope},
                               {"transmission", transmission},
                               {"load-sensing valve", load_sensing},
                               {"circuit", circuit},
                               {"loose slider", loose_slider},
                               {"ball", ball},
                               {"linkage", linkage},
                               {"space", space},
                               {"blocks", blocks_alone},
                               {"loose slider", loose_slider}};

// ---- classes take turns

static int count_of(const char *const *names) {
  int count = 0;
  while (names[count]) count++;
  return count;
}

static const char *const *const turns[] = {trial_block_classes, trial_circuit_parts, trial_mechanism_parts,
                                           trial_friction_laws, trial_signal_kinds,  trial_valves};
enum { TURNS = sizeof turns / sizeof *turns };
static const char *const scene_words[] = {"universal",
                                          "spherical",
                                          "cylindrical",
                                          "screw",
                                          "fixed",
                                          "free spring",
                                          "planar",
                                          "free",
                                          "motor",
                                          "displacement unit",
                                          "pressure-controlled pump",
                                          "driven pump",
                                          "unloading valve",
                                          "sampled",
                                          "pump",
                                          "steady_steps",
                                          "lagged_step",
                                          "segment sine",
                                          "half_cosine",
                                          "four-bar",
                                          "slider-crank",
                                          "rod",
                                          NULL};

static const char *turn(uint64_t i) {
  uint64_t total = (uint64_t)count_of(scene_words);
  for (int k = 0; k < TURNS; k++) total += (uint64_t)count_of(turns[k]);
  i %= total;
  for (int k = 0; k < TURNS; k++) {
    uint64_t count = (uint64_t)count_of(turns[k]);
    if (i < count) return turns[k][i];
    i -= count;
  }
  return scene_words[i];
}

static bool is_among(const char *name, const char *const *names) {
  for (; *names; names++)
    if (strcmp(*names, name) == 0) return true;
  return false;
}

// Which scene a class needs; -1: any.
static int scene_for(trial *t, const char *name) {
  static const char *const in_space[] = {"universal", "spherical",   "cylindrical", "screw",
                                         "fixed",     "free spring", NULL};
  static const char *const of_ball[] = {"planar", "free", NULL};
  static const char *const of_rotor[] = {"motor", "displacement unit", NULL};
  static const char *const of_linkage[] = {"four-bar", "slider-crank", "rod", NULL};
  static const char *const of_supply[] = {
      "pressure-controlled pump", "driven pump", "unloading valve", "pump", "cushion", "leak by position", NULL};
  if (is_among(name, in_space)) return 9;
  if (is_among(name, of_ball)) return 7;
  if (is_among(name, of_rotor)) return 3;
  if (is_among(name, of_linkage)) return 8;
  if (is_among(name, of_supply) || is_among(name, trial_valves)) return trial_pick(t, 2);
  if (is_among(name, trial_friction_laws)) return trial_chance(t, 0.5) ? 0 : 6;
  if (is_among(name, trial_mechanism_parts)) return trial_chance(t, 0.7) ? 6 : trial_pick(t, 2);
  return -1;
}

static void meet(trial *t, const char *name) {
  if (is_among(name, trial_block_classes)) {
    trial_block(t, name);
  } else if (is_among(name, trial_circuit_parts)) {
    trial_circuit_part(t, name);
  } else if (is_among(name, trial_mechanism_parts)) {
    trial_mechanism_part(t, name);
  } else if (is_among(name, trial_signal_kinds)) {
    text input;
    trial_command(t, false, input);
  }
}

static double rounded(double x) {
  char number[32];
  snprintf(number, sizeof number, "%.3g", x);
  return strtod(number, NULL);
}

static void choose_run(trial *t) {
  od_dice dice = {t->seed * 6364136223846793005u + 1442695040888963407u};
  for (int i = 0; i < 4; i++) od_dice_uniform(&dice, 0, 1);
  t->time = rounded(od_dice_uniform(&dice, 0.3, 1));
  t->is_adaptive = t->seed % 2 == 0;
  double u = od_dice_uniform(&dice, 0, 1);
  if (t->is_adaptive) {
    t->step = 1e-3;
    t->integrator = u < 0.1 ? "rk4" : u < 0.2 ? "tr-bdf2" : NULL;
    return;
  }
  t->step = rounded(exp(od_dice_uniform(&dice, log(1e-4), log(2e-2))));
  t->integrator = u < 0.35 ? "trapezoid" : u < 0.7 ? "tr-bdf2" : u < 0.95 ? "rk4" : "cvodes";
}

trial *trial_new(uint64_t seed) {
  trial *t = calloc(1, sizeof *t);
  if (!t) abort();
  t->seed = seed;
  t->dice.state = seed * 2862933555777941757u + 3037000493u;
  for (int i = 0; i < 4; i++) trial_uniform(t, 0, 1);
  choose_run(t);
  const char *wanted[2] = {turn(seed), turn(seed * 7919 + seed / 131)};
  t->wanted[0] = wanted[0], t->wanted[1] = wanted[1];
  int which = scene_for(t, wanted[0]);
  if (which < 0) which = scene_for(t, wanted[1]);
  if (which < 0) which = trial_pick(t, (int)(sizeof scenes / sizeof *scenes));
  scenes[which].add(t);
  for (int k = 0; k < 2; k++)
    for (int tries = 0; t->wanted[k] && tries < 3; tries++) {
      const char *name = t->wanted[k];
      if (!is_among(name, trial_signal_kinds)) t->wanted[k] = NULL;
      meet(t, name);
    }
  t->wanted[0] = t->wanted[1] = t->wanted[2] = NULL;
  if (t->slider[0] && trial_chance(t, 0.3))
    trial_mechanism_part(t, trial_choose(t, trial_mechanism_parts, count_of(trial_mechanism_parts)));
  if (t->has_oil && trial_chance(t, 0.3))
    trial_circuit_part(t, trial_choose(t, trial_circuit_parts, count_of(trial_circuit_parts)));
  return t;
}

char *trial_file(const trial *t, const char *const *outputs, int count) {
  char *file = NULL;
  size_t size = 0;
  FILE *to = open_memstream(&file, &size);
  if (!to) abort();
  fprintf(to, "machine: calibration %llu\n", (unsigned long long)t->seed);
  for (int i = 0; i < t->sections; i++) {
    const trial_text *s = &t->section[i];
    if (strcmp(s->name, "oil") == 0)
      fprintf(to, "oil: {%s}\n", s->text);
    else if (strcmp(s->name, "gravity") == 0)
      fprintf(to, "gravity: %.*s\n", (int)strcspn(s->text, "]") + 1, s->text);
    else if (strcmp(s->name, "junctions") == 0)
      fprintf(to, "junctions: [%.*s]\n", (int)s->used - 2, s->text);
    else if (strcmp(s->name, "ground.points") == 0)
      fprintf(to, "ground:\n  points:\n%s", s->text);
    else
      fprintf(to, "%s:\n%s", s->name, s->text);
  }
  fprintf(to, "run:\n  time: %.9g\n", t->time);
  if (t->is_adaptive)
    fprintf(to, "  step: auto\n");
  else
    fprintf(to, "  step: %.9g\n", t->step);
  if (t->integrator) fprintf(to, "  integrator: %s\n", t->integrator);
  for (int i = 0; i < count; i++) fprintf(to, "%s%s", i ? ", " : "  outputs: [", outputs[i]);
  if (count) fprintf(to, "]\n");
  fclose(to);
  return file;
}
