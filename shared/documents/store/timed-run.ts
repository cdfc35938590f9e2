import { ObjectId } from 'mongodb';
import { type Collection, ownerFieldOf } from '../../collections/collection.ts';
import {
  type DueField,
  type Effect,
  effectFields,
  partsOf,
  ranField,
  seenField,
} from '../../collections/effects/effect.ts';
import { isTrashed } from '../../collections/trash-conditions.ts';
import { clock } from '../../core/clock.ts';
import type { Caller, Project } from '../../projects/project.ts';
import type { AccessContext } from '../access/access.ts';
import { wholeAt } from '../access/decide.ts';
import type { KnownEffects } from '../access/rules-of.ts';
import { type Document, type JsonObject, nextOf, revisionField } from '../document.ts';
import { compute } from '../effects/compute.ts';
import { pendingMails, pendingMailsOf } from '../effects/pending-mails.ts';
import { chosenBy, sourcesFor } from '../effects/set-fields.ts';
import { appliedBy } from './operations.ts';
import { requireReferences, setsReferences } from './references.ts';
import { convertComputed, requireRoom, settleEffects } from './settle-update.ts';

/** An effect that runs at a time. */
export interface TimedEffect {
  readonly project: Project;
  readonly collection: Collection;
  readonly known: KnownEffects['known'];
  readonly effect: Effect;
  /** Its place in the list of the collection. */
  readonly number: number;
  readonly due: DueField;
}

/** The effects of a collection that run at a time. */
export const timedEffects = (
  project: Project,
  collection: Collection,
  { effects, known }: KnownEffects,
): readonly TimedEffect[] =>
  effects.flatMap((effect, number) =>
    effect.due ? [{ project, collection, known, effect, number, due: effect.due }] : [],
  );

/** The last run of an effect for a document. */
export interface Ran {
  /** The date for which it ran. */
  readonly date: Date;
  readonly at: Date;
}

/** The shortest time between two runs of an effect for one document, because an effect may set its own date. */
export const pauseMs = 10 * 60_000;

export const isSameDate = (value: unknown, date: Date): boolean =>
  value instanceof Date && value.getTime() === date.getTime();

const ranOf = ({ _effects }: Document, { mark }: DueField): Ran | undefined =>
  (_effects as { readonly ran?: Readonly<Record<string, Ran>> } | undefined)?.ran?.[mark];

/**
 * The rights of an effect: those of the owner. Only a server can store a document without an owner, except under
 * rules, which may allow it to anyone.
 */
const callerFor = ({ rls }: Collection, document: Document): Caller => {
  const owner = document[ownerFieldOf(rls) ?? '_id'];
  const isOwned = ownerFieldOf(rls) !== undefined;
  const userId = owner instanceof ObjectId ? owner.toHexString() : owner;
  if (isOwned && typeof userId === 'string') return { kind: 'publishable', userId };
  return rls.enabled && rls.mode === 'rules' ? { kind: 'publishable' } : { kind: 'secret' };
};

export const actingFor = ({ project, collection }: TimedEffect, document: Document): AccessContext => ({
  project,
  collection,
  caller: callerFor(collection, document),
});

/** A date of a document, and whether and when an effect runs for it. */
interface NextRun {
  readonly date: Date;
  /** The effect has run for the date, or the document is in the trash. */
  readonly isOver: boolean;
  /** The earliest time of the run, in ms. */
  readonly from: number;
}

/** The next run of an effect for a document; `undefined` without a date. */
export const nextRun = ({ due }: Pick<TimedEffect, 'due'>, document: Document): NextRun | undefined => {
  const date = wholeAt(document, due.path);
  if (!(date instanceof Date)) return undefined;
  const ran = ranOf(document, due);
  const isOver = isTrashed(document) || (ran !== undefined && isSameDate(ran.date, date));
  return { date, isOver, from: Math.max(date.getTime(), ran ? ran.at.getTime() + pauseMs : 0) };
};

/**
 * Writes of the effect itself set `seen`, so they do not count as changes after which effects check the document
 * again.
 */
export const writerOf = ({
  project,
  collection: { effects: _effects, ...collection },
}: TimedEffect): AccessContext => ({
  project,
  collection,
  caller: { kind: 'secret' },
  runsOnlySets: true,
});

/** The fields that the effect sets, and those that effects of updates compute from them. */
const fieldsFor = async (timed: TimedEffect, acting: AccessContext, document: Document): Promise<JsonObject> => {
  const { collection, known, effect } = timed;
  if (effect.set.length === 0) return {};
  const parts = effect.set.flatMap(([, value]) => partsOf(value));
  const sources = (await sourcesFor(acting, known, effect, parts, [document]))({ document });
  const computed = new Map(effect.set.map(([field, value]) => [field, compute(value, field, sources)]));
  acting.onEffect?.(effect.at, { set: [...computed] });
  const given = { ...convertComputed(acting, computed), updatedAt: new Date(clock.now()) };
  const writing: AccessContext = { ...acting, runsOnlySets: true };
  const fields =
    effectFields(collection, 'update').size > 0
      ? await settleEffects(writing, async () => given, undefined)(document)
      : given;
  if (setsReferences(collection, fields)) await requireReferences(writerOf(timed), fields);
  return fields;
};

/** What the write of a run stores: the fields, the mark and the emails. */
export const fieldsOfRun = async (
  timed: TimedEffect,
  acting: AccessContext,
  document: Document,
  date: Date,
): Promise<JsonObject> => {
  const { due, effect } = timed;
  const set = await fieldsFor(timed, acting, document);
  const made = appliedBy(set).to(document);
  const mails = effect.mail ? pendingMails(acting, [effect], made, nextOf(document)) : [];
  const ran: Ran = { date, at: new Date(clock.now()) };
  const fields = {
    ...set,
    [`${ranField}.${due.mark}`]: ran,
    [seenField]: isSameDate(wholeAt(made, due.path), date) ? { [due.mark]: true } : {},
    ...(mails.length > 0 && { '_effects.mails': [...pendingMailsOf(document), ...mails] }),
  };
  await requireRoom(acting, document, appliedBy(fields).to(document));
  return fields;
};

/**
 * What a run would store in a document, by the checks and computations of the run and without storing it; `undefined`
 * if its condition does not hold. Throws the errors of the run.
 */
export const previewRun = async (
  timed: TimedEffect,
  acting: AccessContext,
  document: Document,
  date: Date,
): Promise<Document | undefined> => {
  const [isChosen] = await chosenBy(acting, timed.known, timed.effect, [{ document }]);
  acting.onEffect?.(timed.effect.at, { applies: isChosen === true });
  if (!isChosen) return undefined;
  const fields = await fieldsOfRun(timed, acting, document, date);
  return appliedBy({ ...fields, [revisionField]: nextOf(document) }).to(document);
};
