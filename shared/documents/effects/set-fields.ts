import { type Effect, type EffectEvent, effectFields, partsOf } from '../../collections/effects/effect.ts';
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
import { compute } from './compute.ts';
import { findTargets, sourceOf } from './targets.ts';

/** A document that is written. */
export interface EffectSubject {
  /** As it would be stored without effects. */
  readonly document: Document;
  /** Before an update. */
  readonly stored?: Document;
}

/** Field → its computed value as JSON; `undefined` if the value is missing. */
export type Computed = ReadonlyMap<string, unknown>;

/** Whether effects set fields of what a write stores. Costs nothing without effects. */
export const setsFields = ({ collection }: Pick<AccessContext, 'collection'>, event: EffectEvent): boolean =>
  collection.effects !== undefined && effectFields(collection, event).size > 0;

const holds = async (
  { project, caller, collection }: AccessContext,
  known: KnownEffects['known'],
  rule: RuleNode | undefined,
  document: JsonObject | undefined,
  stored: JsonObject | undefined,
): Promise<boolean> => {
  if (!rule || !document) return true;
  const user = await userOf(project, caller, known, needsRecord([rule]));
  const bound = await bind(rule, { project, caller, collection, known, user, document, stored });
  return decide(bound, { document, user, ...(stored && { stored }) }) === true;
};

/** The documents that an effect applies to. */
const chosen = async (
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

/** The error of one of several documents, with its index. */
const atItem = (error: unknown, index: number, isOne: boolean): unknown => {
  if (isOne || !(error instanceof AppError)) return error;
  const { code, message, errors = [] } = error;
  return new AppError(code, `${message} (item ${index})`, { errors: errors.map((each) => ({ index, ...each })) });
};

/** The form in which later effects see a value. */
const asStored = ({ collection }: AccessContext, field: string, value: unknown): unknown => {
  const type = typeAt(collection, field);
  return type && value !== undefined ? (convert(type, value, field, []) ?? value) : value;
};

/**
 * Computes the fields that the effects of a collection set in documents that are written, in order: each effect sees
 * what earlier ones set. Reads each target collection with one query per effect, for all documents together. Throws
 * 409 `EFFECT_REFUSED`, 400 `VALIDATION_FAILED`.
 */
export const computeFields = async (
  context: AccessContext,
  event: EffectEvent,
  written: readonly EffectSubject[],
): Promise<readonly Computed[]> => {
  const { project, caller } = context;
  const { effects, known } = await effectsOf(project, context.collection);
  const computed = written.map(() => new Map<string, unknown>());
  let current = written;
  for (const effect of effects.filter(({ on }) => on.includes(event))) {
    const applies = await chosen(context, known, effect, current);
    const documents = current.filter((_each, index) => applies[index]).map(({ document }) => document);
    if (documents.length === 0) continue;
    const parts = effect.set.flatMap(([, value]) => partsOf(value));
    const paths = parts.flatMap((part) => (part.kind === 'user' ? [part.path] : []));
    const [targets, user, unreadable] = await Promise.all([
      findTargets(context, known, parts, documents, effect.trusted),
      paths.length > 0
        ? userOf(
            project,
            caller,
            known,
            paths.some((path) => path !== '_id'),
          )
        : undefined,
      effect.trusted ? undefined : unreadableFor(context),
    ]);
    current = current.map((each, index) => {
      if (!applies[index]) return each;
      const { document, stored } = each;
      const sources = {
        own: sourceOf(unreadable, document),
        stored: stored && sourceOf(unreadable, stored),
        user,
        targetOf: (collection: string, id: string) => targets.get(collection)?.get(id),
      };
      try {
        const values = effect.set.map(([field, value]) => [field, compute(value, field, sources)] as const);
        for (const [field, value] of values) computed[index]?.set(field, value);
        const made = values.map(([field, value]) => [field, asStored(context, field, value)]);
        return { ...each, document: { ...document, ...Object.fromEntries(made) } };
      } catch (error) {
        throw atItem(error, index, written.length === 1);
      }
    });
  }
  return computed;
};
