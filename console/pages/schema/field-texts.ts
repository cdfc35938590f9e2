import { type BoundName, boundNames } from '../../../shared/collections/schema/field-bounds.ts';
import { schema as words } from '../../text/schema.ts';
import { isFileName } from '../documents/file-paths.ts';
import { type BoundsDraft, boundsOfType, boundText } from './bounds-draft.ts';
import { type FieldDraft, mayBeSearchable, mayBeUnique, mayHaveDefault } from './schema-draft.ts';

const { chips } = words;

const isRule = (right: string): boolean => right.startsWith('{');

const pairs = [
  ['min', 'max', chips.range],
  ['minLength', 'maxLength', chips.characters],
  ['minItems', 'maxItems', chips.elements],
] as const;

const boundChips = (bounds: BoundsDraft, has: (name: BoundName) => boolean): readonly string[] => [
  ...pairs.flatMap(([least, most, text]) => {
    const [lower, upper] = [boundText(bounds, least), boundText(bounds, most)];
    return has(least) && (lower !== '' || upper !== '') ? [text(lower, upper)] : [];
  }),
  ...(has('integer') && bounds.integer === 'true' ? [chips.integer] : []),
  ...(has('uniqueItems') && bounds.uniqueItems === 'true' ? [chips.uniqueItems] : []),
  ...(has('format') && bounds.format ? [bounds.format] : []),
  ...(has('pattern') && bounds.pattern ? [bounds.pattern] : []),
  ...(has('enum') && bounds.enum?.length ? [bounds.enum.join(' | ')] : []),
];

const rightChips = ({ write, read }: FieldDraft): readonly string[] => {
  if (write === 'server' && read === 'server') return [chips.serverOnly];
  const { writes, reads } = chips;
  const writeChip = isRule(write) ? writes.rule : writes[write as keyof typeof writes];
  const readChip = isRule(read) ? reads.rule : reads[read as keyof typeof reads];
  return [writeChip, readChip].filter((chip) => chip !== undefined);
};

const refChips = ({ type, ref, exists, onDelete }: FieldDraft): readonly string[] =>
  type === 'Ref'
    ? [
        ...(ref === '' ? [] : [`→ ${ref}`]),
        ...(exists ? [chips.exists] : []),
        ...(onDelete === '' ? [] : [chips.onDelete[onDelete]]),
      ]
    : [];

/** What is special about a field, in a few words each. */
export const chipsOf = (field: FieldDraft): readonly string[] => {
  const { type, required, unique, uniquePer, searchable, fallback, bounds } = field;
  const names = boundsOfType(type);
  return [
    ...refChips(field),
    ...(required ? [chips.required] : []),
    ...(unique && mayBeUnique(type) ? [uniquePer ? chips.uniquePerOwner : chips.unique] : []),
    ...(type === 'String' && isFileName(field.key) ? [chips.file] : []),
    ...boundChips(bounds, (name) => names.includes(name)),
    ...(fallback !== undefined && mayHaveDefault(type) ? [chips.fallback(fallback)] : []),
    ...(searchable && mayBeSearchable(field) ? [chips.searchable] : []),
    ...rightChips(field),
  ];
};

const wordOf = (names: Readonly<Record<string, string>>, right: string): string =>
  isRule(right) ? right : (names[right] ?? right);

const boundFact = (bounds: BoundsDraft, name: BoundName): string => {
  if (name === 'enum')
    return (bounds.enum ?? []).map((value) => (value.includes(',') ? `"${value}"` : value)).join(', ');
  const text = boundText(bounds, name);
  return text === 'true' && (name === 'integer' || name === 'uniqueItems') ? words.changes.yes : text;
};

/** Each option of a field that is set, by its label. */
export const factsOf = (field: FieldDraft): ReadonlyMap<string, string> => {
  const { type, required, unique, uniquePer, searchable, write, read, fallback, bounds, ref, exists, onDelete } = field;
  const { yes } = words.changes;
  const names = boundsOfType(type);
  const facts: readonly (readonly [label: string, text: string | false | undefined])[] = [
    [words.changes.type, type],
    [words.required, required && yes],
    [words.unique, unique && mayBeUnique(type) && (uniquePer ? words.uniquePerOwner : yes)],
    [words.searchable, searchable && mayBeSearchable(field) && yes],
    [words.fallback, mayHaveDefault(type) && fallback !== undefined && (fallback === '' ? '""' : fallback)],
    ...boundNames.map((name) => [words.bounds[name], names.includes(name) && boundFact(bounds, name)] as const),
    [words.write, write !== '' && wordOf(words.writers, write)],
    [words.read, read !== '' && wordOf(words.readers, read)],
    [words.ref, type === 'Ref' && ref],
    [words.exists, type === 'Ref' && exists && yes],
    [words.onDelete, type === 'Ref' && onDelete !== '' && words.deleteActions[onDelete]],
  ];
  return new Map(
    facts.filter((fact): fact is readonly [string, string] => typeof fact[1] === 'string' && fact[1] !== ''),
  );
};
