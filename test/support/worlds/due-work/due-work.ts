import { ObjectId } from 'mongodb';
import type { jobs } from '../../../../functions/jobs/jobs.ts';
import type { World } from '../operations/world.ts';

/** One thing that is to be done. */
export interface Due {
  /** 0: not yet. 1: as it is to be. Anything else: more than once, or by halves. */
  readonly done: () => Promise<number>;
  /** Has its step fail from now on; answers how that ends. */
  readonly breakIt: () => Promise<() => void>;
  /** What has become of it, where its work was given up. */
  readonly end?: () => Promise<unknown>;
  /** After how many seconds its step is to come again that fails for the how-manieth time, from 1. */
  readonly delay?: (times: number) => Promise<number>;
}

/** A kind of durable work, from what is due to its end. */
export interface DueWork {
  readonly name: string;
  /** The rows of `functions/jobs/jobs.ts` that do it. */
  readonly jobs: readonly (keyof typeof jobs)[];
  /** Makes one. */
  readonly add: (world: World) => Promise<Due>;
  /** After how many hours it is due. */
  readonly hours: number;
  /** All that happens by itself once it is due. */
  readonly run: (world: World) => Promise<unknown>;
  /** A step takes a page of them, so none fails by itself. */
  readonly inPages?: true;
  /** How one ends whose step always fails, and within how many rounds of `hours`; else it comes again for ever. */
  readonly givenUp?: { readonly rounds: number; readonly end: unknown };
  /** How often its step is handed out by the queue that lets it wait longer each time. */
  readonly tries?: number;
}

/** Past all faults: a collection of the control database. */
export const control = (world: World, collection: string) =>
  world.at.mongo.db(process.env.CONTROL_DATABASE ?? '').collection(collection);

/** 1 once a record of the control database is gone. */
export const isGone = async (world: World, collection: string, id: string): Promise<number> =>
  1 - (await control(world, collection).countDocuments({ _id: new ObjectId(id) }));

/** For what never fails by itself. */
export const unbreakable = (): never => {
  throw new Error('It never fails by itself');
};
