import { requireKnownPaths } from '../../collections/schema/field-path.ts';
import { AppError } from '../../core/errors.ts';
import { fitsResponse, jsonOf } from '../../core/json.ts';
import { etagOf } from '../../core/text.ts';
import type { AccessContext } from '../access/access.ts';
import { hasUnreadable, unreadableFor, unusableIn } from '../access/field-rights.ts';
import { type Document, revisionOf } from '../document.ts';
import { allOf, type Condition, mayReveal } from '../query/condition.ts';
import { type ParsedFilter, pathsOf } from '../query/filter.ts';
import { requireUsable } from '../query/readable.ts';
import { parseWhere, toConditions } from '../query/where.ts';
import { shownToWriter } from './written.ts';

/** What a caller requires of the document in addition to the right to write it. */
export interface Preconditions {
  /** The revision that it must have. */
  readonly ifMatch?: number | undefined;
  /** A condition as JSON that it must meet. */
  readonly where?: unknown;
}

/** A parsed condition of a write. */
export interface WriteCondition {
  readonly filters: readonly ParsedFilter[];
  readonly condition: Condition;
  /**
   * It has patterns, so it may take long. It is evaluated before the write, only for a document that the caller may
   * write, because its duration would reveal others.
   */
  readonly isDelayed: boolean;
}

/** Throws 400 for conditions by fields that the schema lacks or that the caller may not read. */
export const requireConditions = async (context: AccessContext, filters: readonly ParsedFilter[]): Promise<void> => {
  requireKnownPaths(context.collection, pathsOf(filters));
  const unreadable = hasUnreadable(context) ? await unreadableFor(context) : undefined;
  if (unreadable) requireUsable(await unusableIn(context, unreadable), filters);
};

/** Parses the condition of a write. Throws 400 for an invalid one, before any document is looked up. */
export const parseWriteCondition = async (context: AccessContext, where: unknown): Promise<WriteCondition> => {
  const filters = parseWhere(context.collection, where);
  await requireConditions(context, filters);
  const condition = allOf(toConditions(filters));
  return { filters, condition, isDelayed: mayReveal(condition) };
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

/** The error of a write to another revision (412), with the document. */
export const revisionMismatch = (context: AccessContext, found: Document): Promise<AppError> => {
  const message = `The document was changed: its revision is now ${revisionOf(found)}. Read it again, and write to that revision.`;
  return failed(context, 'REVISION_MISMATCH', message, found);
};

/** The error of a write to a document that does not meet the caller's condition (412), with the document. */
export const conditionFailed = (context: AccessContext, found: Document): Promise<AppError> =>
  failed(
    context,
    'CONDITION_FAILED',
    'The document does not fulfil the condition in where. It was not changed.',
    found,
  );
