import type { Contender } from './contender.ts';
import type { LoadRequest } from './load.ts';

/** Others who offer the same. */
export type Peer = 'parse' | 'pocketbase';

/**
 * Who is measured: Basalt counting no requests, each, or in blocks, beside the bare server and the peers; `metered`
 * notes what each request is billed for.
 */
export type Name = 'bare' | 'basalt' | 'counted' | 'blocks' | 'metered' | Peer;

/** In the order in which the tables have them. */
export const peers: readonly Peer[] = ['parse', 'pocketbase'];
export const names: readonly Name[] = ['bare', 'basalt', 'counted', 'blocks', ...peers];

export const isPeer = (name: Name): name is Peer => (peers as readonly Name[]).includes(name);

/** Ratios to the bare server, but for the last, that the project holds itself to. */
export interface Aim {
  /** CPU of process and engine, at most. */
  readonly cpu?: number;
  /** Requests per second, at least: with rate counting off, and each request counted. */
  readonly speed?: number;
  readonly counted?: number;
  /** Requests per second beside those of Parse Server, at least. */
  readonly parse?: number;
}

/** What is compared; its area is the heading of the chart that it stands below. */
export interface Compared {
  readonly name: string;
  readonly area: string;
  readonly aim?: Aim;
}

/** One row of the comparison. */
export interface Operation extends Compared {
  /** The peers that have it too. */
  readonly peers?: readonly Peer[];
  /** How many times longer than others it is measured. */
  readonly longer?: number;
  /** Requests use up what was made for them, so that none are left to warm up with. */
  readonly usesUp?: boolean;
  /** Makes ready what the requests to one contender need for so many seconds. */
  readonly prepare: (name: Name, target: Contender, seconds: number) => LoadRequest | Promise<LoadRequest>;
  /** The part of an answer that has to be the same from all contenders. */
  readonly gist?: (body: Answer, name: Name) => unknown;
}

/** Those of the name, or where there is none of it, those with that in their names. */
export const chosen = (operations: readonly Operation[], only: string): readonly Operation[] => {
  const exact = operations.filter(({ name }) => name === only);
  return exact.length > 0 ? exact : operations.filter(({ name }) => name.includes(only));
};

/** The body of an answer: what each contender calls what it answers is told apart by `gist` alone. */
// biome-ignore lint/suspicious/noExplicitAny: three products answer in three shapes
export type Answer = any;

/** Takes one value after the other, and the first again after the last. */
export const inTurn = <T>(values: readonly T[]): (() => T) => {
  let at = 0;
  return () => values[at++ % values.length] as T;
};

export const counter = (): (() => number) => {
  let at = 0;
  return () => at++;
};
