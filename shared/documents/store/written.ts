import { type AccessContext, obeysRules } from '../access/access.ts';
import { hasUnreadable, unreadableFor, withoutUnreadable } from '../access/field-rights.ts';
import { mayGet } from '../access/reading.ts';
import { type Document, presentStored } from '../document.ts';

/** A document after a write; without a revision if the caller may not read it. */
export interface WrittenDocument {
  readonly document: Document;
  readonly revision?: number;
}

/** What a caller sees of a document that they wrote: only its id if they may not read it. */
export const shownToWriter = async (context: AccessContext, written: Document): Promise<WrittenDocument> => {
  const { project } = context;
  if (obeysRules(context) && !(await mayGet(context, written))) return { document: { _id: written._id } };
  const unreadable = hasUnreadable(context) ? await unreadableFor(context) : undefined;
  const { document, revision } = presentStored(project, written);
  return { document: unreadable ? withoutUnreadable(unreadable, document, written) : document, revision };
};
