import { requireKnownPaths } from '../../collections/schema/field-path.ts';
import { AppError } from '../../core/errors.ts';
import { fitsResponse, jsonOf } from '../../core/json.ts';
import type { AccessContext } from '../access/access.ts';
import { hasUnreadable, unreadableFor, unusableIn } from '../access/field-rights.ts';
import { type Document, etagOf, revisionOf } from '../document.ts';
import { allOf, type Condition, mayReveal } from '../query/condition.ts';
import { type ParsedFilter, pathsOf } from '../query/filter.ts';
import { requireUsable } from '../query/readable.ts';
import { parseWhere, toConditions } from '../query/where.ts';
import { shownToWriter } from './written.ts';

/** What a caller asks of the document that a write is about, besides the right to write it. */
export interface Preconditions {
  /** The revision that it must be at. */
  readonly ifMatch?: number | undefined;
  /** A condition as JSON, which it must meet. */
  readonly where?: unknown;
}

/** A condition of a write, ready for the command that writes. */
export interface WriteCondition {
  readonly condition: Condition;
  /** Only documents that the caller may write may be compared: the time that it takes would tell of others. */
  readonly isDelayed: boolean;
}

/** Refuses conditions of a write by fields that the schema lacks, or that the caller may not read (400). */
export const requireConditions = async (context: AccessContext, filters: readonly ParsedFilter[]): Promise<void> => {
  requireKnownPaths(context.collection, pathsOf(filters));
  const unreadable = hasUnreadable(context) ? await unreadableFor(context) : undefined;
  if (unreadable) requireUsable(await unusableIn(context, unreadable), filters);
};

/** The condition of a write by its JSON; what is none → 400, before any document is looked up. */
export const parseWriteCondition = async (context: AccessContext, where: unknown): Promise<WriteCondition> => {
  const filters = parseWhere(context.collection, where);
  await requireConditions(context, filters);
  const condition = allOf(toConditions(filters));
  return { condition, isDelayed: context.caller.kind !== 'secret' && mayReveal(condition) };
};

const failed = async (
  context: AccessContext,
  code: 'REVISION_MISMATCH' | 'CONDITION_FAILED',
  message: string,
  found: Document,
): Promise<AppError> => {
  const { document, revision } = await shownToWriter(context, found);
  if (revision === undefined) return new AppError(code, message);
  const isSent = fitsResponse(jsonOf(document));
  return new AppError(code, message, { etag: etagOf(revision), ...(isSent && { data: document }) });
};

/** The refusal of a write to a document that others have written to meanwhile (412), with the document. */
export const revisionMismatch = (context: AccessContext, found: Document): Promise<AppError> => {
  const message = `The document was changed: its revision is now ${revisionOf(found)}. Read it again, and write to that revision.`;
  return failed(context, 'REVISION_MISMATCH', message, found);
};

/** The refusal of a write to a document that does not meet the condition of the caller (412), with the document. */
export const conditionFailed = (context: AccessContext, found: Document): Promise<AppError> =>
  failed(
    context,
    'CONDITION_FAILED',
    'The document does not fulfil the condition in where. It was not changed.',
    found,
  );
