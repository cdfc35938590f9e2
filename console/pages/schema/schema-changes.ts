import { schema as words } from '../../text/schema.ts';
import { factsOf } from './field-texts.ts';
import type { FieldDraft } from './schema-draft.ts';

/** One difference between the saved schema and the edited one. */
export interface SchemaChange {
  /** The dotted path, or what changes. */
  readonly name: string;
  readonly label?: string;
  readonly before?: string;
  readonly after?: string;
  /** What it means for documents. */
  readonly note?: string;
}

type Fields = readonly FieldDraft[];

const join = (parent: string, key: string): string => (parent ? `${parent}.${key}` : key);

const ofOptions = (name: string, before: FieldDraft, now: FieldDraft): readonly SchemaChange[] => {
  const [old, next] = [factsOf(before), factsOf(now)];
  return [...new Set([...old.keys(), ...next.keys()])]
    .filter((label) => old.get(label) !== next.get(label))
    .map((label) => ({
      ...{ name, label },
      before: old.get(label) ?? words.changes.noValue,
      after: next.get(label) ?? words.changes.noValue,
    }));
};

const ofValue = (name: string, before: FieldDraft, now: FieldDraft): readonly SchemaChange[] => [
  ...ofOptions(name, before, now),
  ...(now.type === 'Object' ? schemaChanges(before.type === 'Object' ? before.fields : [], now.fields, name) : []),
  ...(now.type === 'Array' ? ofItems(name, before.type === 'Array' ? before.items : undefined, now.items) : []),
];

const ofItems = (
  parent: string,
  before: FieldDraft | undefined,
  now: FieldDraft | undefined,
): readonly SchemaChange[] => {
  if (!before && !now) return [];
  const name = `${parent}[]`;
  if (before && now) return ofValue(name, before, now);
  const { any, type } = words.changes;
  return [
    { name, label: type, before: before?.type ?? any, after: now?.type ?? any },
    ...(now?.type === 'Object' ? schemaChanges([], now.fields, name) : []),
  ];
};

const isMoved = (before: Fields, kept: readonly string[]): boolean => {
  const left = before.map(({ key }) => key).filter((key) => kept.includes(key));
  return left.some((key, place) => key !== kept[place]);
};

/** What saving changes, in the order of the fields; at last those that are removed. */
export const schemaChanges = (before: Fields, now: Fields, parent = ''): readonly SchemaChange[] => {
  const saved = new Map(before.map((field) => [field.key, field]));
  const renamed = new Set(now.map(({ was }) => was));
  // A field that was removed and added again is the same field.
  const originOf = ({ was, key }: FieldDraft): string => (was === undefined && !renamed.has(key) ? key : (was ?? ''));
  const kept = new Set(now.map(originOf));
  const { added, removed, order, changed } = words.changes;
  return [
    ...now.flatMap((field): readonly SchemaChange[] => {
      const name = join(parent, field.key || '…');
      const old = saved.get(originOf(field));
      if (!old) return [{ name, after: field.type, note: added }];
      return [
        ...(old.key === field.key ? [] : [{ name, note: words.changes.renamed(old.key) }]),
        ...ofValue(name, old, field),
      ];
    }),
    ...before.filter(({ key }) => !kept.has(key)).map(({ key }) => ({ name: join(parent, key), note: removed })),
    ...(isMoved(
      before,
      now.map(originOf).filter((key) => saved.has(key)),
    )
      ? [{ name: parent ? `${order}: ${parent}` : order, note: changed }]
      : []),
  ];
};
