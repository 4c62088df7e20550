// A machine without a machine file: a pump feeds a cylinder through an orifice, a relief valve opens in parallel, and the
// piston pushes a mass against a force until it reaches its end stop.
//
//   pump --- P ---orifice--- A [=|-------- mass <--- load
//            |
//          relief --- tank --- B
//
// Closed forms exist for two states, and the program compares with both: the steady speed while part of the flow passes
// the relief valve, and the pressure when the piston stands and all flow passes the relief valve. The program needs only
// the core. Build: cc build_machine.c $(pkg-config --cflags --libs oleodyn)
#include <math.h>
#include <stdio.h>

#include <oleodyn/build.h>
#include <oleodyn/sim.h>

#define COUNT_OF(list) ((int)(sizeof(list) / sizeof *(list)))

// SI units throughout.
static const double mass = 100, load = 5e3;
static const double density = 870, modulus = 1.4e9, smoothing = 1e3;
static const double pump_flow = 20e-3 / 60, area = 3e-6, discharge = 0.6, set = 100e5, slope = 1e-9;
static const double piston = 1e-3, annulus = 6e-4, closed = 0.5, stroke = 0.3, dead = 5e-5;

// Three consecutive numbers.
static int vector(od_build *b, const char *path, double x, double y, double z, const char *unit) {
  const double component[3] = {x, y, z};
  int first = OD_UNUSED;
  for (int i = 0; i < 3; i++) {
    char name[64];
    snprintf(name, sizeof name, "%s[%d]", path, i);
    int place = od_build_number(b, name, component[i], unit);
    if (i == 0) first = place;
  }
  return first;
}

// A body that slides along x, and the two end points of the cylinder. The slide's position is the cylinder's length.
typedef struct mechanism {
  int base, rod;
} mechanism;
static mechanism build_mechanism(od_build *b) {
  int inertia = od_build_number(b, "mass.mass", mass, "kg");
  vector(b, "mass.position", 0, 0, 0, "m");
  int body = od_build_body(b, "mass", OD_SHAPE_POINT, inertia);
  mechanism m = {.base = od_build_point(b, "base", OD_GROUND, OD_UNUSED, OD_UNUSED, 0),
                 .rod = od_build_point(b, "rod", body, OD_UNUSED, OD_UNUSED, 0)};
  od_joint_spec slide = od_joint_spec_of(OD_PRISMATIC, m.base, m.rod);
  slide.axis_a = vector(b, "slide.axis", 1, 0, 0, "1");
  od_build_joint(b, "slide", &slide);
  int against = od_build_number(b, "load.value", load, "N");
  vector(b, "load.direction", -1, 0, 0, "1");
  od_build_force(b, "load", m.rod, against, OD_UNUSED, false);
  return m;
}

// An element between two nodes.
static od_element_spec between(const char *class_name, int from, int to, int first_number) {
  od_element_spec spec = od_element_spec_of(class_name);
  spec.end[0] = from;
  spec.end[1] = to;
  spec.first_number = first_number;
  return spec;
}

static void build_circuit(od_build *b, const mechanism *m) {
  int oil = od_build_number(b, "oil.density", density, "kg/m3");
  od_build_number(b, "oil.smoothing", smoothing, "Pa");
  od_build_number(b, "oil.modulus", modulus, "Pa");
  od_build_oil(b, OD_OIL_CONSTANT, oil);
  int P = od_build_node(b, "P", OD_NODE_VOLUME, od_build_number(b, "P.volume", 1e-4, "m3"), OD_UNUSED);
  int A = od_build_node(b, "A", OD_NODE_VOLUME, od_build_number(b, "A.volume", 0, "m3"), OD_UNUSED);
  int tank = od_build_node(b, "tank", OD_NODE_TANK, od_build_number(b, "tank.pressure", 0, "Pa"), OD_UNUSED);

  const od_keyed_number of_pump[] = {{"flow", pump_flow}};
  const od_keyed_number of_orifice[] = {{"area", area}, {"discharge", discharge}};
  const od_keyed_number of_relief[] = {{"set", set}, {"slope", slope}};
  const od_keyed_number of_cylinder[] = {{"areas[0]", piston}, {"areas[1]", annulus}, {"closed", closed},
                                         {"stroke", stroke},   {"dead[0]", dead},     {"dead[1]", dead}};
  od_element_spec pump =
      between("pump", tank, P, od_build_element_numbers(b, "pump", "pump", of_pump, COUNT_OF(of_pump)));
  pump.signal = od_build_input(b, "drive", "1");  // the pump's flow is multiplied by this input
  od_element_spec orifice =
      between("orifice", P, A, od_build_element_numbers(b, "orifice", "orifice", of_orifice, COUNT_OF(of_orifice)));
  od_element_spec relief = between(
      "relief valve", P, tank, od_build_element_numbers(b, "relief", "relief valve", of_relief, COUNT_OF(of_relief)));
  od_element_spec cylinder = between(
      "cylinder", A, tank, od_build_element_numbers(b, "cylinder", "cylinder", of_cylinder, COUNT_OF(of_cylinder)));
  cylinder.point_a = m->base;
  cylinder.point_b = m->rod;
  od_build_element(b, "pump", &pump);
  od_build_element(b, "orifice", &orifice);
  od_build_element(b, "relief", &relief);
  od_build_element(b, "cylinder", &cylinder);
}

// Builds the model. All problems are printed to standard error.
static od_model *build(void) {
  od_build *b = od_build_new();
  od_model *model = NULL;
  if (!b) return NULL;
  od_build_title(b, "Pump, orifice, relief valve and a cylinder with a mass");
  mechanism m = build_mechanism(b);
  build_circuit(b, &m);
  od_build_initial(b, "slide.position", closed, true);
  od_build_initial(b, "P.pressure", 0, true);
  od_build_initial(b, "A.pressure", load / piston, true);  // the load at rest
  od_error err = {0};
  if (od_build_finish(b, &model, &err) != OD_OK) {
    fprintf(stderr, "%s\n", err.text);
    for (int i = 1; i < od_build_problem_count(b); i++) fprintf(stderr, "%s\n", od_build_problem(b, i).text);
  }
  od_build_free(b);
  return model;
}

enum { SPEED, PUMP_PRESSURE, CHAMBER, RELIEF_FLOW, WORK, BALANCE, OUTPUTS };
static const char *const names[OUTPUTS] = {"slide.rate",  "P.pressure", "A.pressure",
                                           "relief.flow", "pump.work",  "energy.balance"};

// Steps up to a time and prints a row there.
static od_status run_until(od_sim *sim, double end, double *y) {
  const double step = 1e-4, drive = 1;
  od_status status = OD_OK;
  while (od_sim_time(sim) < end - step / 2 && status == OD_OK) status = od_sim_step(sim, step, &drive);
  if (status == OD_OK) status = od_sim_outputs(sim, y);
  printf("%8.3f", od_sim_time(sim));
  for (int i = 0; i < OUTPUTS && status == OD_OK; i++) printf(" %15.6g", y[i]);
  printf("\n");
  return status;
}

static int is_near(const char *what, double found, double expected, double tolerance) {
  double off = fabs(found / expected - 1);
  printf("%-34s %12.8g, in closed form %12.8g: off by %.1e\n", what, found, expected, off);
  return off <= tolerance;
}

// While the piston moves, with s = sqrt(p_P - p_A): pump_flow = K s + slope (s^2 + p_A - opens). The valve's smoothed
// corner shifts its opening pressure by half the smoothing.
static int check_moving(const double *y) {
  double K = area * discharge * sqrt(2 / density), p_A = load / piston, opens = set + smoothing / 2;
  double c = slope * (p_A - opens) - pump_flow, s = (-K + sqrt(K * K - 4 * slope * c)) / (2 * slope);
  return is_near("moving: speed (m/s)", y[SPEED], K * s / piston, 1e-6) &&
         is_near("moving: pump pressure (Pa)", y[PUMP_PRESSURE], p_A + s * s, 1e-6) &&
         is_near("moving: relief flow (m3/s)", y[RELIEF_FLOW], pump_flow - K * s, 1e-6);
}

static int check_standing(const double *y) {
  double p = set + smoothing / 2 + pump_flow / slope;
  return is_near("standing: pump pressure (Pa)", y[PUMP_PRESSURE], p, 1e-6) &&
         is_near("standing: chamber pressure (Pa)", y[CHAMBER], p, 1e-6) &&
         is_near("standing: relief flow (m3/s)", y[RELIEF_FLOW], pump_flow, 1e-6) && fabs(y[SPEED]) < 1e-6;
}

int main(void) {
  od_model *model = build();
  od_plant *plant = NULL;
  od_error err = {0};
  int outputs[OUTPUTS];
  for (int i = 0; model && i < OUTPUTS; i++) outputs[i] = od_model_output_find(model, names[i]);
  if (!model) return 1;
  if (od_model_plant(model, outputs, OUTPUTS, NULL, 0, &plant, &err) != OD_OK)
    return fprintf(stderr, "%s\n", err.text), od_model_free(model), 1;
  od_sim *sim = od_sim_new(plant);
  const double drive = 1;
  double y[OUTPUTS] = {0};
  od_status status = sim ? od_sim_start(sim, 0, &drive) : OD_NO_MEMORY;

  printf("%8s", "time");
  for (int i = 0; i < OUTPUTS; i++) printf(" %15s", names[i]);
  printf("\n");
  int ok = status == OD_OK && run_until(sim, 1, y) == OD_OK && check_moving(y) && run_until(sim, 3, y) == OD_OK &&
           check_standing(y);
  // The pump's energy is stored, or lost in valves, orifice and stop, within the error of the integrator.
  printf("energy from the pump: %.6g J; error of the energy balance: %.2g J\n", y[WORK], y[BALANCE]);
  ok = ok && y[WORK] > 0 && fabs(y[BALANCE]) < 1e-5 * y[WORK];
  od_sim_free(sim), od_plant_free(plant), od_model_free(model);
  return ok ? 0 : 1;
}
