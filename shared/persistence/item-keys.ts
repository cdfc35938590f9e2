import { hash } from 'node:crypto';
import { type Kind, type PartitionName, partitions } from './table-keys.ts';

/** The names of the parts of a template: `'a' | 'b'` of `x#{a}#{b}`. */
type PartOf<Template extends string> = Template extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PartOf<Rest>
  : never;

/** What a template makes: `` `x#${string}` `` of `x#{a}`. */
type Filled<Template extends string> = Template extends `${infer Head}{${infer _}}${infer Rest}`
  ? `${Head}${string}${Filled<Rest>}`
  : Template;

/** Nothing where a template has no parts. */
type Parts<Template extends string> = [PartOf<Template>] extends [never]
  ? readonly []
  : readonly [parts: Readonly<Record<PartOf<Template>, string>>];

/** A partition key, by the name of the partition. */
export type PartitionKey<P extends PartitionName = PartitionName> = Filled<(typeof partitions)[P]>;

/** The partition keys in which items of a kind may be. */
type PartitionOf<K extends Kind> = PartitionKey<K['in'][number]>;

export type Key = { readonly pk: string; readonly sk: string };

/** A template with its parts in their places, up to the first that is missing. */
const fill = (template: string, parts: Readonly<Record<string, string>> = {}): string => {
  const pieces = template.split(/\{(\w+)\}/);
  const missing = pieces.findIndex((piece, at) => at % 2 === 1 && parts[piece] === undefined);
  const known = missing === -1 ? pieces : pieces.slice(0, missing);
  return known.map((piece, at) => (at % 2 === 1 ? parts[piece] : piece)).join('');
};

export const partitionKey = <P extends PartitionName>(
  name: P,
  ...[parts]: Parts<(typeof partitions)[P]>
): PartitionKey<P> => fill(partitions[name], parts) as PartitionKey<P>;

/** The key of an item of a kind, in one of the partitions that may have it. */
export const itemKey = <K extends Kind>(kind: K, pk: PartitionOf<K>, ...[parts]: Parts<K['sk']>): Key => ({
  pk,
  sk: fill(kind.sk, parts),
});

/** What the sort keys of a kind begin with, as far as its first parts are known. */
export const sortPrefix = <K extends Kind>(
  kind: K,
  parts?: Readonly<Partial<Record<PartOf<K['sk']>, string>>>,
): string => fill(kind.sk, parts as Readonly<Record<string, string>>);

/** What permissions call the keys of a partition: `p#*`. */
export const leadingKeys = (name: PartitionName): string => {
  const start = fill(partitions[name]);
  return start === partitions[name] ? start : `${start}*`;
};

/** The partitions that a project has for itself. */
export const projectPartitions = (projectId: string): readonly string[] =>
  Object.values(partitions).flatMap((template) =>
    template.includes('{projectId}') ? [fill(template, { projectId })] : [],
  );

/** The partition of a project, by its id: 24 hex characters. */
export const projectScope = (projectId: string): PartitionKey<'project'> => partitionKey('project', { projectId });

export const developerScope: PartitionKey<'developers'> = partitionKey('developers');

/** The partition of an owner, by `ownerKeyOf` their address. */
export const ownerScope = (ownerKey: string): PartitionKey<'owner'> => partitionKey('owner', { ownerKey });

/** What an owner is counted by: the hashed address, which a new account has too, so that no limit begins anew. */
export const ownerKeyOf = (email: string): string => hash('sha256', email, 'base64url').slice(0, 22);
