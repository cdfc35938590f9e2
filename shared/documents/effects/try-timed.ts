import { clock } from '../../core/clock.ts';
import { isClientError } from '../../core/errors.ts';
import type { KnownEffects } from '../access/rules-of.ts';
import type { Document } from '../document.ts';
import { PreviewedDocuments } from '../store/preview-write.ts';
import { actingFor, nextRun, previewRun, type TimedEffect, timedEffects } from '../store/timed-run.ts';
import { type Heard, hearMails, hearWrites, rejectionOf, type Trying } from './tried.ts';

/** What one effect would do. Returns the documents as it leaves them; as they were, if it does not run. */
const tryOne = async (
  trying: Trying,
  timed: TimedEffect,
  each: Heard,
  stored: Document,
  before: PreviewedDocuments,
): Promise<PreviewedDocuments> => {
  const { project, collection, onEffect } = trying.context;
  const document = before.get(trying.context, stored) ?? stored;
  const next = nextRun(timed, document);
  if (!next || next.isOver) {
    each.state = next ? 'ran' : 'noDate';
    return before;
  }
  const time = Math.max(next.from, clock.now());
  each.runsAt = new Date(time);
  const acting = { ...actingFor(timed, document), time, ...(onEffect && { onEffect }) };
  const left = before.copy();
  try {
    const after = await previewRun(timed, acting, document, next.date);
    if (!after) return before;
    await left.store({ project, collection, caller: { kind: 'secret' } }, document, after);
    await hearMails(trying, document, after);
    const cause = { context: acting, event: timed.effect, written: [{ document: after, index: 0 }] };
    return (await hearWrites(trying, cause, left)) ? before : left;
  } catch (error) {
    if (!isClientError(error)) throw error;
    each.refused = rejectionOf(error);
    return before;
  }
};

/** What effects at a time would do with a document, one after the other in the order of their dates. */
export const tryTimed = async (trying: Trying, known: KnownEffects['known'], stored: Document): Promise<void> => {
  const { context, effects, heard } = trying;
  const timed = timedEffects(context.project, context.collection, { effects, known });
  const byDate = timed
    .map((each) => ({ each, from: nextRun(each, stored)?.from ?? 0 }))
    .toSorted((one, other) => one.from - other.from);
  let left = new PreviewedDocuments();
  for (const { each } of byDate) {
    const of = heard.get(each.effect.at);
    if (of) left = await tryOne(trying, each, of, stored, left);
  }
};
