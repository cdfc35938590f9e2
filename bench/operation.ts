import type { Contender } from './contender.ts';
import type { LoadRequest } from './load.ts';

/** Other products. */
export type Peer = 'parse' | 'pocketbase';

/**
 * The contenders: the bare server, other products, and Basalt without counting, with counting, or counting in blocks.
 * `metered` records the billed usage of each request.
 */
export type Name = 'bare' | 'basalt' | 'counted' | 'blocks' | 'metered' | Peer;

/** In the order of the tables. */
export const peers: readonly Peer[] = ['parse', 'pocketbase'];
export const names: readonly Name[] = ['bare', 'basalt', 'counted', 'blocks', ...peers];

export const isPeer = (name: Name): name is Peer => (peers as readonly Name[]).includes(name);

/** The project's targets, as ratios to the bare server, except the last one. */
export interface Aim {
  /** Maximum CPU of process and engine. */
  readonly cpu?: number;
  /** Minimum requests per second: without counting, and with each request counted. */
  readonly speed?: number;
  readonly counted?: number;
  /** Minimum ratio of requests per second to Parse Server. */
  readonly parse?: number;
}

/** A compared operation; its area is the heading in charts. */
export interface Compared {
  readonly name: string;
  readonly area: string;
  readonly aim?: Aim;
}

export interface Operation extends Compared {
  /** The other products that have it. */
  readonly peers?: readonly Peer[];
  /** Factor for its measuring time. */
  readonly longer?: number;
  /** Requests use up prepared data, so a warm-up has no data. */
  readonly usesUp?: boolean;
  /** Prepares the data that the requests to one contender need for this many seconds. */
  readonly prepare: (name: Name, target: Contender, seconds: number) => LoadRequest | Promise<LoadRequest>;
  /** The part of a response that all contenders must return. */
  readonly gist?: (body: Answer, name: Name) => unknown;
}

/** The operations with this name, or else those whose names contain it. */
export const chosen = (operations: readonly Operation[], only: string): readonly Operation[] => {
  const exact = operations.filter(({ name }) => name === only);
  return exact.length > 0 ? exact : operations.filter(({ name }) => name.includes(only));
};

/** A response body; only `gist` knows each contender's format. */
// biome-ignore lint/suspicious/noExplicitAny: three products answer in three shapes
export type Answer = any;

/** Repeats the values in turn. */
export const inTurn = <T>(values: readonly T[]): (() => T) => {
  let at = 0;
  return () => values[at++ % values.length] as T;
};

export const counter = (): (() => number) => {
  let at = 0;
  return () => at++;
};
