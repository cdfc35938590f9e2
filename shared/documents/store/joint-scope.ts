import { AsyncLocalStorage } from 'node:async_hooks';
import type { ObjectId } from 'mongodb';
import { countEffectWrites, type Effect, type EffectEvent } from '../../collections/effects/effect.ts';
import { AppError } from '../../core/errors.ts';
import type { AccessContext } from '../access/access.ts';
import type { Document } from '../document.ts';
import type { EffectSubject } from '../effects/set-fields.ts';
import type { FieldOperation } from './operations.ts';

/** A write of a joint run that has happened, or whose response was lost, and what undoing it needs. */
export type JointWrite = { readonly context: AccessContext; readonly _id: ObjectId } & (
  | { readonly kind: 'insert'; readonly document: Document }
  | { readonly kind: 'purge' }
  | {
      readonly kind: 'change';
      readonly before: Document;
      /** The top-level fields that it changed. */
      readonly fields: ReadonlySet<string>;
      /** Set if it consists of these operations only. */
      readonly operations?: readonly FieldOperation[] | undefined;
      readonly isUncertain?: true;
    }
);

/** Written documents after which effects write others. */
export interface EffectCause {
  readonly context: AccessContext;
  /** An effect that runs at a time has decided itself that it applies. */
  readonly event: EffectEvent | Effect;
  readonly written: readonly (EffectSubject & { /** Its place in the request. */ readonly index: number })[];
}

/** Writes that are done all or none. */
export interface JointScope {
  readonly isAtomic: boolean;
  /** Which of several requested writes is running; the first one if they run together. */
  index?: number;
  writes: number;
  readonly done: (JointWrite & { readonly index: number | undefined })[];
  /** Written documents to publish after the commit, by collection. */
  readonly published: Map<string, { readonly context: AccessContext; readonly documents: Map<string, Document> }>;
  readonly afterwards: ((scope: JointScope) => Promise<unknown>)[];
  readonly onFailure: (() => Promise<unknown>)[];
  /** Writes whose effects are still to run. */
  readonly causes: EffectCause[];
  /** Writes that cannot be undone, which happen after those of effects. */
  readonly last: (() => Promise<unknown>)[];
}

export const currentScope = new AsyncLocalStorage<JointScope>();

/** True if the running write belongs to a joint run, which reads each document before it changes it. */
export const isJoint = (): boolean => currentScope.getStore() !== undefined;

/** The writes of one request. */
export const maxJointWrites = 1000;

/** Counts writes that are about to happen. Throws 400 `TOO_MANY_WRITES` for more than 1000 in one joint run. */
export const countWrites = (count = 1): void => {
  const scope = currentScope.getStore();
  if (!scope) return;
  scope.writes += count;
  if (scope.writes <= maxJointWrites) return;
  throw new AppError(
    'TOO_MANY_WRITES',
    `The request would write more than ${maxJointWrites} documents, including those of effects. Send fewer writes at a time.`,
  );
};

/** Notes a write of a joint run, so that it can be undone. `ahead`: it comes so many writes after the running one. */
export const noteWrite = (write: JointWrite, ahead = 0): void => {
  const scope = currentScope.getStore();
  scope?.done.push({ ...write, index: scope.index === undefined ? undefined : scope.index + ahead });
};

/** Notes written documents, so that effects of the collection write others. The run of the request must be joint. */
export const noteCause = (context: AccessContext, event: EffectEvent, written: EffectCause['written']): void => {
  if (context.runsOnlySets || countEffectWrites(context.collection, event) === 0) return;
  const scope = currentScope.getStore();
  if (!scope) throw new Error(`Effects of ${event} need a joint run`);
  scope.causes.push({ context, event, written });
};

/** Notes a document that an effect at a time has written, so that it writes others. The run must be joint. */
export const noteTimed = (context: AccessContext, effect: Effect, written: EffectCause['written'][number]): void => {
  currentScope.getStore()?.causes.push({ context, event: effect, written: [written] });
};

/** Runs `act` in the joint run, after the writes of effects. */
export const afterEffects = (act: () => Promise<unknown>): void => {
  currentScope.getStore()?.last.push(act);
};

/** Runs `act` now, or in a joint run after its commit, with the scope. */
export const afterwards = async (act: (scope?: JointScope) => Promise<unknown>): Promise<void> => {
  const scope = currentScope.getStore();
  if (scope) scope.afterwards.push(act);
  else await act();
};

/** Runs `act` if the joint run fails and leaves nothing behind. */
export const onJointFailure = (act: () => Promise<unknown>): void => {
  currentScope.getStore()?.onFailure.push(act);
};

/** Keeps written documents until the commit. False outside of a joint run. */
export const publishLater = (context: AccessContext, written: readonly Document[]): boolean => {
  const scope = currentScope.getStore();
  if (!scope) return false;
  const { name } = context.collection;
  const entry = scope.published.get(name) ?? { context, documents: new Map<string, Document>() };
  scope.published.set(name, entry);
  // Only the last state of each document is published.
  for (const document of written) entry.documents.set(String(document._id), document);
  return true;
};
