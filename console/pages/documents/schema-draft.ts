import type { Data } from '../../api/rows.ts';

type Field = NonNullable<Data<'get-collection'>['schema']>[number];
export type FieldType = Field['type'];

/** A field as it is typed; what the table does not show (`items`, `fields`) goes along as JSON. */
export interface FieldDraft {
  readonly key: string;
  readonly type: FieldType;
  readonly required: boolean;
  readonly unique: boolean;
  readonly uniquePer: 'owner' | undefined;
  readonly searchable: boolean;
  readonly fallback: string;
  readonly ref: string;
  /** `items` and `fields`, as JSON. */
  readonly inside: string;
}

export const newField: FieldDraft = {
  key: '',
  type: 'String',
  required: false,
  unique: false,
  uniquePer: undefined,
  searchable: false,
  fallback: '',
  ref: '',
  inside: '',
};

export const draftOf = (schema: readonly Field[] | null): readonly FieldDraft[] =>
  (schema ?? []).map(
    ({ key, type, required, unique, uniquePer, searchable = false, default: fallback, ref, items, fields }) => ({
      key,
      type,
      required,
      unique,
      uniquePer,
      searchable,
      fallback: fallback === undefined ? '' : JSON.stringify(fallback),
      ref: ref ?? '',
      inside:
        items === undefined && fields === undefined
          ? ''
          : JSON.stringify({ ...(items === undefined ? {} : { items }), ...(fields === undefined ? {} : { fields }) }),
    }),
  );

const parsed = (text: string, name: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${name} is not JSON: ${text}`);
  }
};

/** The schema that is sent; none where there is no field. */
export const schemaOf = (fields: readonly FieldDraft[]): readonly Record<string, unknown>[] | null =>
  fields.length === 0
    ? null
    : fields.map(({ key, type, required, unique, uniquePer, searchable, fallback, ref, inside }) => ({
        key,
        type,
        required,
        unique,
        ...(unique && uniquePer && { uniquePer }),
        ...(searchable && { searchable }),
        ...(fallback === '' ? {} : { default: parsed(fallback, `The default of ${key}`) }),
        ...(ref === '' ? {} : { ref }),
        ...(inside === '' ? {} : (parsed(inside, `What ${key} holds`) as object)),
      }));
