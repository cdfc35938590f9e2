import { isHiddenPath, systemFields } from '../../collections/collection.ts';
import { JsonText } from '../../core/json.ts';
import { deserialize } from '../../persistence/raw-documents.ts';
import type { Project } from '../../projects/project.ts';
import { type Unreadable, withoutUnreadable } from '../access/field-rights.ts';
import { type Document, present, revisionField, revisionOf, withoutHidden } from '../document.ts';
import { type WireText, wireDocument, wireText } from '../wire.ts';
import type { ListQuery } from './list-query.ts';

/** The parts of a document to show. */
export interface Wanted extends Pick<ListQuery, 'fields' | 'meta'> {
  /** The fields that the caller may not read. */
  readonly unreadable?: Unreadable | undefined;
}

/** The owner field, if it is needed to decide what is shown and was not requested. */
const addedOwner = ({ fields, unreadable }: Wanted): string | undefined => {
  const owner = unreadable && unreadable.ofOthers.length > 0 ? unreadable.ownerField : undefined;
  return owner !== undefined && fields && !fields.includes(owner) ? owner : undefined;
};

const dropped = [...systemFields].filter((field) => field !== '_id');

const isDropped = (path: string): boolean => dropped.includes(path.split('.')[0] ?? '');

/** The projection for `fields` and `meta`. `_id` is always included. */
export const toProjection = (wanted: Wanted): Readonly<Record<string, 0 | 1>> => {
  const { fields, meta } = wanted;
  if (!fields) return meta ? {} : Object.fromEntries(dropped.map((field) => [field, 0]));
  const kept = fields.filter((path) => !(meta ? isHiddenPath(path) : isDropped(path)));
  const owner = addedOwner(wanted);
  const shown = ['_id', ...kept, ...(meta === 'rev' ? [revisionField] : []), ...(owner === undefined ? [] : [owner])];
  return Object.fromEntries(shown.map((path) => [path, 1]));
};

const presentFields = (document: Document, fields: readonly string[]): Document => {
  const { isDeleted, deletedAt } = present(document);
  return {
    ...document,
    ...(fields.includes('isDeleted') ? { isDeleted } : {}),
    ...(fields.includes('deletedAt') ? { deletedAt } : {}),
  };
};

/** A projected document without the fields that the caller may not read. */
const readablePart = (document: Document, stored: Document, wanted: Wanted): Document => {
  const { unreadable } = wanted;
  if (!unreadable) return document;
  const owner = addedOwner(wanted);
  const shown = withoutUnreadable(unreadable, document, stored);
  if (owner === undefined) return shown;
  const { [owner]: _owner, ...rest } = shown;
  return rest as Document;
};

/** A projected document as the caller sees it, with the defaults of missing system fields if wanted. */
export const presentProjected = (stored: Document, wanted: Wanted): Document =>
  readablePart(withDefaults(stored, wanted), stored, wanted);

const withDefaults = (stored: Document, { fields, meta }: Wanted): Document => {
  if (!meta) return stored;
  const shown = fields ? presentFields(withoutHidden(stored), fields) : present(stored);
  return meta === 'rev' ? { ...shown, [revisionField]: revisionOf(stored) } : shown;
};

const showsAll = (text: Pick<WireText, 'hasState'>, { fields, meta }: Wanted): boolean => {
  if (!meta) return true;
  return fields ? !fields.includes('isDeleted') && !fields.includes('deletedAt') : text.hasState;
};

/** Everything, as for a single document. */
export const whole: Wanted = { fields: undefined, meta: true };

/**
 * The JSON of a projected document as the caller sees it, if it can be made from its bytes alone. In a customer's
 * database a document may have two fields of the same name.
 */
export const plainText = (
  { placement }: Pick<Project, 'placement'>,
  raw: Uint8Array,
  wanted: Wanted,
): WireText | undefined => {
  if (wanted.unreadable) return undefined;
  const text = placement.kind === 'managed' ? wireText(raw, wanted.meta === 'rev') : undefined;
  return text && showsAll(text, wanted) ? text : undefined;
};

export const textOf = (project: Pick<Project, 'placement'>, raw: Uint8Array, wanted: Wanted): JsonText =>
  plainText(project, raw, wanted)?.json ??
  new JsonText(JSON.stringify(presentProjected(wireDocument(deserialize(raw)) as Document, wanted)));
