import { hash } from 'node:crypto';
import { type Kind, type PartitionName, partitions } from './table-keys.ts';

/** The names in a template: `'a' | 'b'` for `x#{a}#{b}`. */
type PartOf<Template extends string> = Template extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PartOf<Rest>
  : never;

/** The text of a template: `` `x#${string}` `` for `x#{a}`. */
type Filled<Template extends string> = Template extends `${infer Head}{${infer _}}${infer Rest}`
  ? `${Head}${string}${Filled<Rest>}`
  : Template;

/** No argument if a template has no parts. */
type Parts<Template extends string> = [PartOf<Template>] extends [never]
  ? readonly []
  : readonly [parts: Readonly<Record<PartOf<Template>, string>>];

export type PartitionKey<P extends PartitionName = PartitionName> = Filled<(typeof partitions)[P]>;

type PartitionOf<K extends Kind> = PartitionKey<K['in'][number]>;

export type Key = { readonly pk: string; readonly sk: string };

/** Fills a template up to the first missing part. */
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

export const itemKey = <K extends Kind>(kind: K, pk: PartitionOf<K>, ...[parts]: Parts<K['sk']>): Key => ({
  pk,
  sk: fill(kind.sk, parts),
});

/** Prefix of a kind's sort keys, up to the first missing part. */
export const sortPrefix = <K extends Kind>(
  kind: K,
  parts?: Readonly<Partial<Record<PartOf<K['sk']>, string>>>,
): string => fill(kind.sk, parts as Readonly<Record<string, string>>);

/** The partition's keys in IAM conditions: `p#*`. */
export const leadingKeys = (name: PartitionName): string => {
  const start = fill(partitions[name]);
  return start === partitions[name] ? start : `${start}*`;
};

export const projectPartitions = (projectId: string): readonly string[] =>
  Object.values(partitions).flatMap((template) =>
    template.includes('{projectId}') ? [fill(template, { projectId })] : [],
  );

/** `projectId` has 24 hexadecimal characters. */
export const projectScope = (projectId: string): PartitionKey<'project'> => partitionKey('project', { projectId });

export const developerScope: PartitionKey<'developers'> = partitionKey('developers');

/** `ownerKey` is `ownerKeyOf` the owner's address. */
export const ownerScope = (ownerKey: string): PartitionKey<'owner'> => partitionKey('owner', { ownerKey });

/** The hash of the address: a new account with the same address has the same limits. */
export const ownerKeyOf = (email: string): string => hash('sha256', email, 'base64url').slice(0, 22);
