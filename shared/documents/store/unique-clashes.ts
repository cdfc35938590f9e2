import { hasRules, isPrivate } from '../../collections/collection.ts';
import { listLabel } from '../../collections/schema/unique-lists.ts';
import { AppError } from '../../core/errors.ts';
import { OverLimit, RateCounter, type RateWindow } from '../../rate-limit/rate-limit.ts';
import type { AccessContext } from '../access/access.ts';

/** If documents are hidden, each 409 reveals a value of another user's document. */
const clashes: RateWindow = { name: 'clashes', limit: 20, block: 1 };

const counter = new RateCounter();

const tooManyClashes = ({ state }: OverLimit): AppError =>
  new AppError(
    'RATE_LIMITED',
    `Too many values were sent that other documents already have. Retry in ${state.reset} seconds.`,
    { retryAfter: state.reset },
  );

/** Whether the value only has to be unique among the documents of one owner. */
const isOwn = ({ collection }: AccessContext, field: string | undefined): boolean =>
  (collection.schema?.some(({ key, uniquePer }) => key === field && uniquePer === 'owner') ?? false) ||
  (collection.uniqueLists?.some(
    (list) => listLabel(list) === field && list.fields.includes(collection.rls.ownerField),
  ) ??
    false);

/** Whether an error reveals a value or id of a document that the user may not get. */
const isClash = (context: AccessContext, { code, errors, data }: AppError): boolean =>
  code === 'DUPLICATE_VALUE' ? !isOwn(context, errors?.[0]?.field) : code === 'DOCUMENT_EXISTS' && data === undefined;

/**
 * Runs a write of a user in a collection that hides documents, and counts clashes with other users' unique values
 * and ids: after 20 in 15 minutes it throws 429 `RATE_LIMITED`, and a process that knows of it throws before the
 * write. Costs nothing for any other write.
 */
export const countingClashes = async <T>(context: AccessContext, write: () => Promise<T>): Promise<T> => {
  const { project, collection, caller } = context;
  const hidesDocuments = isPrivate(collection.rls) || hasRules(collection.rls);
  if (caller.kind === 'secret' || caller.userId === undefined || !hidesDocuments) return write();
  const source = `clashes ${project.id} ${caller.userId}`;
  const known = counter.refusal(source, [clashes]);
  if (known) throw tooManyClashes(known);
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof AppError) || !isClash(context, error)) throw error;
    await counter.count(source, [clashes]).catch((over: unknown) => {
      throw over instanceof OverLimit ? tooManyClashes(over) : over;
    });
    throw error;
  }
};
