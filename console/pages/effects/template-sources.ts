import { type Collection, type Field, ownerFieldOf } from '../../../shared/collections/collection.ts';

/** What a template needs from the project. */
export interface TemplateSources {
  readonly collection: Collection;
  readonly known: readonly Collection[];
  /** Names or keys of email templates. */
  readonly mails: readonly string[];
}

export type Option = readonly [value: string, label: string];

export const same = (names: readonly string[]): readonly Option[] => names.map((name) => [name, name]);

export const schemaOf = ({ schema, rls }: Collection): readonly Field[] =>
  (schema ?? []).filter(({ key }) => key !== ownerFieldOf(rls));

export const targetOf = ({ collection, known }: TemplateSources, ref: string | undefined): Collection | undefined => {
  const field = schemaOf(collection).find(({ key, type }) => key === ref && type === 'Ref');
  return known.find(({ name }) => name === field?.ref);
};

/** Ref fields whose documents effects may write. */
export const refsOf = ({ collection, known }: TemplateSources): readonly string[] =>
  schemaOf(collection).flatMap(({ key, type, ref }) =>
    type === 'Ref' && ref !== 'users' && known.some(({ name }) => name === ref) ? [key] : [],
  );

export const fieldsOf = (collection: Collection | undefined, ...types: readonly Field['type'][]): readonly string[] =>
  collection ? schemaOf(collection).flatMap(({ key, type }) => (types.includes(type) ? [key] : [])) : [];

/** The first path whose last part has one of the words in its name. */
export const named = (paths: readonly string[], ...words: readonly string[]): string | undefined =>
  words.flatMap((word) => paths.filter((path) => path.split('.').at(-1)?.toLowerCase().includes(word)))[0];

/** Paths of values: own fields, and those of documents that Refs lead to. */
export const pathsOf = (sources: TemplateSources, type: Field['type']): readonly string[] => [
  ...fieldsOf(sources.collection, type),
  ...refsOf(sources).flatMap((ref) => fieldsOf(targetOf(sources, ref), type).map((field) => `${ref}.${field}`)),
];

/** The fields of documents that Refs lead to, and the own fields that can take their value. */
export const copied = (
  sources: TemplateSources,
): readonly (readonly [path: string, key: string, into: readonly string[]])[] =>
  refsOf(sources).flatMap((ref) => {
    const target = targetOf(sources, ref);
    return (target ? schemaOf(target) : []).map(({ key, ...from }) => {
      const fits = (to: Field) =>
        to.type === from.type && to.ref === from.ref && to.items?.type === from.items?.type && to.key !== ref;
      const into = schemaOf(sources.collection).filter(fits);
      return [`${ref}.${key}`, key, into.map((to) => to.key)] as const;
    });
  });

/** The receivers of an email: the caller, users whose id a field has, and addresses in fields. */
export const receiversOf = ({ collection }: TemplateSources): readonly Option[] => {
  const owner = ownerFieldOf(collection.rls);
  const users = schemaOf(collection).flatMap(({ key, type, ref }) => (type === 'Ref' && ref === 'users' ? [key] : []));
  return [
    ['user', 'user'],
    ...[...(owner ? [owner] : []), ...users].map((field): Option => [`emailOf ${field}`, `emailOf ${field}`]),
    ...fieldsOf(collection, 'String').map((field): Option => [`doc ${field}`, `doc ${field}`]),
    ['address', 'address'],
  ];
};

export const fieldNamed = ({ collection }: TemplateSources, name: string | undefined): Field | undefined =>
  schemaOf(collection).find(({ key }) => key === name);
