import {
  type Effect,
  type EffectEvent,
  type Expression,
  effectFields,
  partsOf,
  sendsMail,
} from '../../collections/effects/effect.ts';
import type { RuleNode } from '../../collections/rules/rule.ts';
import { typeAt } from '../../collections/schema/field-path.ts';
import { AppError } from '../../core/errors.ts';
import type { AccessContext } from '../access/access.ts';
import { bind, needsRecord } from '../access/bind.ts';
import { decide } from '../access/decide.ts';
import { unreadableFor } from '../access/field-rights.ts';
import { effectsOf, type KnownEffects, userOf } from '../access/rules-of.ts';
import type { Document, JsonObject } from '../document.ts';
import { convert } from '../values.ts';
import { compute, type EffectSources } from './compute.ts';
import { findTargets, sourceOf } from './targets.ts';

/** A document that is written. */
export interface EffectSubject {
  /** As it would be stored without effects. */
  readonly document: Document;
  /** Before an update. */
  readonly stored?: Document;
}

/** The result of effects for one document. */
export interface Computed {
  /** Field → its computed value as JSON; `undefined` if the value is missing. */
  readonly values: ReadonlyMap<string, unknown>;
  /** The effects that send an email. */
  readonly mails: readonly Effect[];
}

/** The events whose effects set fields. */
type SetEvent = Exclude<EffectEvent, 'delete'>;

const setsFields = ({ collection }: Pick<AccessContext, 'collection'>, event: SetEvent): boolean =>
  collection.effects !== undefined && effectFields(collection, event).size > 0;

/** Whether a write has effects that set fields or send emails. Sends no command without effects. */
export const runsEffects = (context: AccessContext, event: SetEvent): boolean =>
  setsFields(context, event) || (!context.runsOnlySets && sendsMail(context.collection, event));

const holds = async (
  { project, caller, collection, time }: AccessContext,
  known: KnownEffects['known'],
  rule: RuleNode | undefined,
  document: JsonObject | undefined,
  stored: JsonObject | undefined,
): Promise<boolean> => {
  if (!rule || !document) return true;
  const user = await userOf(project, caller, known, needsRecord([rule]));
  const bound = await bind(rule, { project, caller, collection, known, user, document, stored, time });
  return decide(bound, { document, user, ...(stored && { stored }) }) === true;
};

/** The documents that an effect applies to. */
export const chosenBy = async (
  context: AccessContext,
  known: KnownEffects['known'],
  { before, after }: Effect,
  written: readonly EffectSubject[],
): Promise<readonly boolean[]> =>
  Promise.all(
    written.map(
      async ({ document, stored }) =>
        (await holds(context, known, after, document, stored)) &&
        (await holds(context, known, before, stored, undefined)),
    ),
  );

/** Reads the documents that the expressions of an effect need, for several subjects. */
export const sourcesFor = async (
  context: AccessContext,
  known: KnownEffects['known'],
  { trusted }: Pick<Effect, 'trusted'>,
  parts: readonly Expression[],
  documents: readonly Document[],
): Promise<(subject: EffectSubject) => EffectSources> => {
  const { project, caller, time } = context;
  const paths = parts.flatMap((part) => (part.kind === 'user' ? [part.path] : []));
  const needsUser = paths.some((path) => path !== '_id');
  const [targets, user, unreadable] = await Promise.all([
    findTargets(context, known, parts, documents, trusted),
    paths.length > 0 ? userOf(project, caller, known, needsUser) : undefined,
    trusted ? undefined : unreadableFor(context),
  ]);
  return ({ document, stored }) => ({
    own: sourceOf(unreadable, document),
    stored: stored && sourceOf(unreadable, stored),
    user,
    time,
    targetOf: (collection, id) => targets.get(collection)?.get(id),
  });
};

/** The error of one of several documents, with its index. */
const atItem = (error: unknown, index: number, isOne: boolean): unknown => {
  if (isOne || !(error instanceof AppError)) return error;
  const { code, message, errors = [] } = error;
  return new AppError(code, `${message} (item ${index})`, { errors: errors.map((each) => ({ index, ...each })) });
};

/** The value in the form that later effects read. */
const asStored = ({ collection }: AccessContext, field: string, value: unknown): unknown => {
  const type = typeAt(collection, field);
  return type && value !== undefined ? (convert(type, value, field, []) ?? value) : value;
};

/**
 * Computes the fields that the effects of a collection set in documents that are written, in order, and which effects
 * send an email: each effect sees what earlier ones set. Reads each target collection with one query per effect, for all documents together. Throws
 * 409 `EFFECT_REFUSED`, 400 `VALIDATION_FAILED`.
 */
export const computeFields = async (
  context: AccessContext,
  event: SetEvent,
  written: readonly EffectSubject[],
): Promise<readonly Computed[]> => {
  const { effects, known } = await effectsOf(context.project, context.collection);
  const computed = written.map(() => ({ values: new Map<string, unknown>(), mails: [] as Effect[] }));
  let current = written;
  for (const effect of effects.filter(({ on, set, mail }) => (set.length > 0 || mail) && on.includes(event))) {
    const applies = await chosenBy(context, known, effect, current);
    const documents = current.filter((_each, index) => applies[index]).map(({ document }) => document);
    context.onEffect?.(effect.at, { applies: documents.length > 0 });
    if (documents.length === 0) continue;
    if (effect.mail && !context.runsOnlySets) {
      for (const [index, each] of computed.entries()) if (applies[index]) each.mails.push(effect);
    }
    if (effect.set.length === 0) continue;
    const parts = effect.set.flatMap(([, value]) => partsOf(value));
    const sources = await sourcesFor(context, known, effect, parts, documents);
    current = current.map((each, index) => {
      if (!applies[index]) return each;
      const { document } = each;
      try {
        const values = effect.set.map(([field, value]) => [field, compute(value, field, sources(each))] as const);
        for (const [field, value] of values) computed[index]?.values.set(field, value);
        context.onEffect?.(effect.at, { set: values });
        const made = values.map(([field, value]) => [field, asStored(context, field, value)]);
        return { ...each, document: { ...document, ...Object.fromEntries(made) } };
      } catch (error) {
        throw atItem(error, index, written.length === 1);
      }
    });
  }
  return computed;
};
