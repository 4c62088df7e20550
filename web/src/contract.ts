// The data of a page, which the program writes into the element "page-data". Values are in SI units.
export type Vector = [number, number, number];

export interface Grid {
  count: number;
  start?: number;
  step?: number;
  end?: number;         // last value of x, if the last step is shorter
  series?: number;      // column with the values of x
  envelope?: boolean;   // pairs of values: least and largest of one interval, in order of time
}
export interface SeriesInfo {
  name?: string;
  label?: string;
  si?: string;
  unit?: string;
  factor?: number;
  offset?: number;
  part?: string;
  group?: string;
  quantity?: string;
  of?: string;
  grid: number;
  low: number;
  high: number;
  at?: number;
  order?: number;       // 2: second differences
  steps?: number;       // of the stored numbers between low and high; absent: 65534
  log?: boolean;        // the column has decimal logarithms of the values
}
// stems: bars from zero, for histograms; bars: error bars from lower to upper.
export type LineKind = 'line' | 'points' | 'band' | 'truth' | 'estimate' | 'measured' | 'limit' | 'start' | 'bars' | 'stems';
export interface LineInfo {
  series: number;
  x?: number | null;
  kind: LineKind;
  label: string;   // may be absent for a band, which then is not in the legend
  upper?: number;
  lower?: number;
  points?: boolean;
  moves?: [number, number][];   // a series over time; for each point, the weight of the difference between the series and its last value
}
export interface AxisInfo { name?: string; si?: string; unit?: string; factor?: number; offset?: number; scale?: 'linear' | 'log'; low?: number; high?: number }
export interface ChartInfo {
  title: string;
  note?: string;
  x: AxisInfo;
  y: AxisInfo;
  over_time: boolean;
  equal_scales?: boolean;   // a unit of x has as many px as a unit of y
  lines: LineInfo[];
  limits?: { value: number; text?: string }[];
  marks?: { x: number; y?: number; text?: string; shape?: string }[];
}
export interface Group { name: string; label: string; parts: string[] }
export type Severity = 'good' | 'note' | 'warning' | 'serious';
export interface Finding {
  code: string;
  severity: Severity;
  owner?: string;
  output?: string;
  from?: number;
  to?: number;
  at?: number;
  title: string;
  text: string;
}
export interface Phase { from: number; to: number; name: string; source?: string }
export interface Happening { at: number; name: string; owner?: string; code?: string }

export interface Place { body: number; at: Vector }
export type Shape =
  | { kind: 'outline'; points: Vector[]; thickness?: number; normal?: Vector; color?: string }
  | { kind: 'line'; points: Vector[]; width: number; color?: string }
  | { kind: 'capsule'; a: Vector; b: Vector; width: number; end_width?: number; color?: string }
  | { kind: 'disc'; center: Vector; axis: Vector; radius: number; thickness?: number; color?: string }
  | { kind: 'box'; center: Vector; size: Vector; quaternion?: [number, number, number, number]; color?: string };
export interface BodyInfo { name: string; pose: string | null; shapes: Shape[]; part?: string }
export interface JointInfo { name: string; type: string; a: Place; b: Place; axis?: Vector; radius?: number; pin?: boolean }
export interface Chamber { node: string; pressure: string }
export interface CylinderInfo {
  name: string;
  a: Place;
  b: Place;
  closed?: number;
  stroke?: number;
  diameter: number;
  rod?: number;
  chambers?: (Chamber | null)[];
  stages?: number;
  length?: string;
  behind?: boolean;
  parts?: string[];
}
export interface SpringInfo { name: string; a: Place; b: Place; diameter?: number }
export interface RopeInfo { name: string; path: Place[] }
export interface LoadInfo {
  name: string;
  kind: 'force' | 'torque';
  at?: Place;
  direction?: Vector;
  joint?: string;        // name of the joint; a load in a joint has neither place nor direction
  follows_body?: boolean;
  output: string;
}
export interface JointLoad { joint: string; x?: string; y?: string; z?: string; size?: string }
export interface PointInfo { name: string; body: number; at: Vector }
export interface SceneInfo {
  planar: boolean;
  axes: { x: Vector; y: Vector; normal: Vector };
  bounds: { low: Vector; high: Vector };
  size: number;
  bodies: BodyInfo[];
  joints?: JointInfo[];
  cylinders?: CylinderInfo[];
  springs?: SpringInfo[];
  rods?: SpringInfo[];
  ropes?: RopeInfo[];
  motors?: { name: string; joint: string }[];
  ground?: { level?: number | null; color?: string; planes?: { point: Vector; normal: Vector }[] };
  loads?: LoadInfo[];
  joint_loads?: JointLoad[];
  points?: PointInfo[];
  traces?: string[];
  view?: Vector;         // from the machine to the viewer, in space
  gaps?: { name: string; part: string; gap: number; a: Vector; b: Vector }[];
}
export interface CircuitInfo { nodes: { name: string; pressure?: string }[]; outputs?: string[] }

export interface PageData {
  format: number;
  program: string;
  kind: string;
  title: string;
  subtitle?: string;
  grids?: Grid[];
  blob?: string;
  series?: SeriesInfo[];
  charts?: ChartInfo[];
  groups?: Group[];
  machines?: { label: string; of: string }[];
  scene?: SceneInfo;
  circuit?: CircuitInfo;
  findings?: Finding[];
  phases?: Phase[];
  events?: Happening[];
  waveform?: string;
  pressure?: { low: number; high: number };
}
