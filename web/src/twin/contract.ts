// The answers of the twin's server (its description: /api/v1/openapi.json). Values are in SI units. t: time of the machine, s; clock: seconds since 1970.
import type { CircuitInfo, Group, SceneInfo } from '../contract';

export type Trust = 'sound' | 'doubtful' | 'unsound';
export interface Session { role: 'read' | 'act' | null; name: string | null; csrf: string | null; boot: string; program: string; title: string | null; needs_token: boolean }
export interface Status {
  name: string;
  title: string;
  state: 'waiting' | 'running' | 'silent' | 'ended' | 'failed';
  t: number | null;
  clock: number | null;
  offset: number | null;          // clock = t + offset
  age: number | null;             // time since the last sample, s
  rate: number | null;            // samples/s
  latency?: { mean: number | null; p99: number | null } | null;
  counts?: Record<string, number>;
  alarms: number;
  verdict: { trust: Trust; text: string } | null;
  history: { first: number; last: number } | null;
}
export interface Machines { title: string; boot: string; now: number; machines: Status[] }

export type Origin = 'measured' | 'estimate' | 'parameter' | 'innovation' | 'statistic' | 'input' | 'compared' | 'truth' | 'view';
export interface Channel {
  channel: string;
  name?: string;
  part?: string;
  quantity?: string;
  group?: string;
  of: Origin;
  si?: string;
  unit?: string;
  factor?: number;
  offset?: number;
  sigma?: string;                 // channel of the standard deviation
  start?: number;
  start_sigma?: number;
  low?: number;
  high?: number;
  history?: 'rows' | 'frames';
}
export interface TrendLine { channel: string; kind: string; band?: boolean; label?: string }
export interface TrendInfo { title: string; si?: string; unit?: string; factor?: number; offset?: number; lines: TrendLine[] }
export interface CurveInfo {
  valve: string;
  port: string;
  from?: string;
  to?: string;
  side?: number;
  x_unit?: string;
  unit?: string;
  x: number[];
  start?: number[];
  points: { x: number; channel?: string; value?: number }[];
  weight: number[][];
}
export interface AlarmRule { name: string; channel: string; above?: number; below?: number; for?: number }
export interface Description {
  name: string;
  title: string;
  version: number;
  boot: string;
  series?: Channel[];
  scene?: SceneInfo;
  circuit?: CircuitInfo;
  groups?: Group[];
  pictures?: { machine?: string; circuit?: string; tall?: number };
  pressure?: { low: number; high: number };
  charts?: TrendInfo[];
  curves?: CurveInfo[];
  alarms?: AlarmRule[];
  window?: number;
}
export interface Bins { channel: string; level: number; dt: number; t: number[]; mean: (number | null)[]; min?: (number | null)[]; max?: (number | null)[]; sigma?: (number | null)[] }
export interface History { from: number; to: number; first: number | null; last: number | null; offset: number | null; points: number; series: Bins[] }
export interface Frames { channels: string[]; t: number[]; values: (number | null)[][]; first: number | null; last: number | null }
export interface Judgment {
  trust: Trust;
  text: string;
  from?: number;
  to?: number;
  clock?: number;
  since?: number;
  remarks?: { trust: Trust; code: string; lead?: string; text: string }[];
  causes?: { trust: Trust; code: string; text: string }[];
}
export interface Happening { id: number; machine: string | null; t: number | null; clock: number; kind: string; severity: 'note' | 'warning' | 'alarm'; text: string; acknowledged: number | null }
export interface Happenings { events: Happening[]; more: boolean }
export interface Sample { machine: string; t: number; clock: number; values: (number | null)[]; sigma?: (number | null)[] }
export interface Hello { boot: string; program: string; clock: number; interval: number }
