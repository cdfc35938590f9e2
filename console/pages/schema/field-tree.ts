import type { FieldDraft } from './schema-draft.ts';

type Fields = readonly FieldDraft[];

/** The place of a row: its list of fields and its index in it. `parent` is the row that contains the list. */
interface RowPlace {
  readonly parent: number | undefined;
  readonly place: number;
  readonly field: FieldDraft;
  readonly siblings: Fields;
}

const withItems = (field: FieldDraft, change: (fields: Fields) => Fields): FieldDraft => {
  const fields = change(field.fields);
  const items = field.items && change([field.items])[0];
  return fields === field.fields && items === field.items ? field : { ...field, fields, items };
};

/** Changes one row. The others, and the lists without it, stay the same objects. */
export const changeField = (fields: Fields, id: number, changes: Partial<FieldDraft>): Fields => {
  let isChanged = false;
  const next = fields.map((field) => {
    const changed =
      field.id === id ? { ...field, ...changes } : withItems(field, (inner) => changeField(inner, id, changes));
    isChanged ||= changed !== field;
    return changed;
  });
  return isChanged ? next : fields;
};

const inList = (
  fields: Fields,
  parent: number | undefined,
  change: (fields: Fields) => Fields,
  own: number | undefined = undefined,
): Fields => {
  if (own === parent) return change(fields);
  return fields.map((field) => {
    const inner = inList(field.fields, parent, change, field.id);
    const items = field.items && inItems(field.items, parent, change);
    return inner === field.fields && items === field.items ? field : { ...field, fields: inner, items };
  });
};

const inItems = (items: FieldDraft, parent: number | undefined, change: (fields: Fields) => Fields): FieldDraft => ({
  ...items,
  fields: inList(items.fields, parent, change, items.id),
  items: items.items && inItems(items.items, parent, change),
});

export const insertField = (
  fields: Fields,
  parent: number | undefined,
  place: number,
  ...added: readonly FieldDraft[]
): Fields => inList(fields, parent, (list) => list.toSpliced(place, 0, ...added));

export const placeOf = (fields: Fields, id: number, parent?: number): RowPlace | undefined => {
  for (const [place, field] of fields.entries()) {
    if (field.id === id) return { parent, place, field, siblings: fields };
    const found = placeOf(field.fields, id, field.id) ?? (field.items && placeInItems(field.items, id));
    if (found) return found;
  }
  return undefined;
};

const placeInItems = (items: FieldDraft, id: number): RowPlace | undefined =>
  placeOf(items.fields, id, items.id) ?? (items.items && placeInItems(items.items, id));

export const removeField = (fields: Fields, id: number): Fields => {
  const found = placeOf(fields, id);
  return found ? inList(fields, found.parent, (list) => list.toSpliced(found.place, 1)) : fields;
};

/** Moves a row within its list; to the end if `place` is beyond it. */
export const moveField = (fields: Fields, id: number, place: number): Fields => {
  const found = placeOf(fields, id);
  if (!found || place < 0 || place >= found.siblings.length) return fields;
  return inList(fields, found.parent, (list) => list.toSpliced(found.place, 1).toSpliced(place, 0, found.field));
};
