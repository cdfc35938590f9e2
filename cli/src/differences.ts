import {
  type CollectionShape,
  type FieldShape,
  type IndexShape,
  indexMeaning,
  isSame,
  type JsonObject,
  nameOfIndex,
  type ProjectShape,
  type WebhookShape,
} from './canonical.ts';
import type { Secrets } from './placeholders.ts';
import type { ProjectState } from './project-state.ts';
import type { SchemaFile } from './schema-file.ts';

type Kind = 'collection' | 'index' | 'setting' | 'secret' | 'template' | 'webhook';

/** One change that makes the project what the file says. */
export interface Difference {
  readonly action: 'create' | 'update' | 'delete';
  readonly kind: Kind;
  readonly name: string;
  /** For an index: its collection. */
  readonly collection?: string;
  /** For a webhook: its place among those of the project. */
  readonly at?: number;
  /** For a webhook: what it becomes. */
  readonly webhook?: WebhookShape;
  readonly details: readonly string[];
  /** What would be lost: needs `--allow-loss`. */
  readonly loses: readonly string[];
}

type Paths = ReadonlyMap<string, FieldShape>;

const withoutInner = ({ fields: _fields, items: _items, key: _key, ...rest }: FieldShape): JsonObject => rest;

const addPaths = (paths: Map<string, FieldShape>, value: FieldShape, path: string): void => {
  paths.set(path, value);
  if (value.items) addPaths(paths, value.items, `${path}[]`);
  for (const field of value.fields ?? []) addPaths(paths, field, `${path}.${field.key}`);
};

/** All fields by path, such as `address.city` and `tags[]`. */
const pathsOf = ({ schema }: CollectionShape): Paths => {
  const paths = new Map<string, FieldShape>();
  for (const field of schema ?? []) addPaths(paths, field, String(field.key));
  return paths;
};

const membersThatDiffer = (before: JsonObject, now: JsonObject): readonly string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((name) => !isSame(before[name], now[name]));

interface Compared {
  readonly details: readonly string[];
  readonly loses: readonly string[];
}

const orderOf = (paths: Paths, others: Paths): string => [...paths.keys()].filter((path) => others.has(path)).join();

const compareFields = (before: CollectionShape, now: CollectionShape): Compared => {
  const [old, wanted] = [pathsOf(before), pathsOf(now)];
  const added = [...wanted].filter(([path]) => !old.has(path)).map(([path, { type }]) => `+ field ${path} (${type})`);
  const removed = [...old.keys()].filter((path) => !wanted.has(path));
  const changed = [...wanted].flatMap(([path, field]) => {
    const was = old.get(path);
    const names = was ? membersThatDiffer(withoutInner(was), withoutInner(field)) : [];
    return names.length > 0 ? [`~ field ${path}: ${names.join(', ')}`] : [];
  });
  const isReordered = orderOf(old, wanted) !== orderOf(wanted, old);
  const kind =
    (before.schema === null) === (now.schema === null)
      ? []
      : [now.schema ? '~ gets a schema' : '~ becomes schema-free'];
  return {
    details: [
      ...kind,
      ...added,
      ...removed.map((path) => `- field ${path}`),
      ...changed,
      ...(isReordered ? ['~ order of fields'] : []),
    ],
    loses: removed.map((path) => `field ${path}`),
  };
};

const compareCollection = (before: CollectionShape, now: CollectionShape): Compared => {
  const { details, loses } = compareFields(before, now);
  const others = membersThatDiffer(before, now).filter((name) => name !== 'schema' && name !== 'indexes');
  return { details: [...details, ...others.map((name) => `~ ${name}`)], loses };
};

const documentsIn = ({ documents }: ProjectState, name: string): string => {
  const count = documents.get(name);
  return count == null ? 'its documents' : `${count} ${count === 1 ? 'document' : 'documents'}`;
};

const compareCollections = (state: ProjectState, wanted: ProjectShape): readonly Difference[] => {
  const { collections } = state.project;
  const saved = Object.entries(wanted.collections).flatMap(([name, now]): Difference[] => {
    const before = collections[name];
    if (!before) return [{ action: 'create', kind: 'collection', name, details: [], loses: [] }];
    const { details, loses } = compareCollection(before, now);
    return details.length > 0 ? [{ action: 'update', kind: 'collection', name, details, loses }] : [];
  });
  const deleted = Object.keys(collections)
    .filter((name) => !wanted.collections[name])
    .map((name): Difference => {
      const lost = documentsIn(state, name);
      return {
        action: 'delete',
        kind: 'collection',
        name,
        details: [lost],
        loses: [`collection ${name} with ${lost}`],
      };
    });
  return [...saved, ...deleted];
};

const byIndexName = (indexes: readonly IndexShape[] = []): ReadonlyMap<string, IndexShape> =>
  new Map(indexes.map((index) => [nameOfIndex(index), index]));

const compareIndexes = (before: ProjectShape, wanted: ProjectShape): readonly Difference[] =>
  Object.entries(wanted.collections).flatMap(([collection, now]) => {
    const [old, next] = [byIndexName(before.collections[collection]?.indexes), byIndexName(now.indexes)];
    const differs = (index: IndexShape, other: IndexShape | undefined): boolean =>
      !other || indexMeaning(index) !== indexMeaning(other);
    const common = { kind: 'index', collection, details: [], loses: [] } as const;
    const deleted = [...old].filter(([name, index]) => differs(index, next.get(name)));
    const created = [...next].filter(([name, index]) => differs(index, old.get(name)));
    return [
      ...deleted.map(([name]): Difference => ({ ...common, action: 'delete', name })),
      ...created.map(([name]): Difference => ({ ...common, action: 'create', name })),
    ];
  });

const compareSettings = (before: JsonObject, now: JsonObject): readonly Difference[] =>
  membersThatDiffer(before, now).map((name) => ({ action: 'update', kind: 'setting', name, details: [], loses: [] }));

const compareSecrets = (has: ReadonlySet<string>, wanted: Secrets): readonly Difference[] => [
  ...[...wanted]
    .filter(([path]) => !has.has(path))
    .map(
      ([name, variable]): Difference => ({
        action: 'create',
        kind: 'secret',
        name,
        details: [`from ${variable}`],
        loses: [],
      }),
    ),
  ...[...has]
    .filter((path) => !wanted.has(path))
    .map((name): Difference => ({ action: 'delete', kind: 'secret', name, details: [], loses: [`secret ${name}`] })),
];

const compareTemplates = (before: ProjectShape['templates'], now: ProjectShape['templates']): readonly Difference[] => {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
  return names.flatMap((name): Difference[] => {
    const [old, next] = [before[name], now[name]];
    const common = { kind: 'template', name, loses: [] } as const;
    if (!old) return [{ ...common, action: 'create', details: [] }];
    if (!next) return [{ ...common, action: 'delete', details: [], loses: [`template ${name}`] }];
    const details = membersThatDiffer(old, next).map((member) => `~ ${member}`);
    return details.length > 0 ? [{ ...common, action: 'update', details }] : [];
  });
};

/** Webhooks are the same if their address is; several can have one address. */
const compareWebhooks = (before: readonly WebhookShape[], now: readonly WebhookShape[]): readonly Difference[] => {
  const left = new Set(before.keys());
  const exact = now.map((webhook) => {
    const at = [...left].find((index) => isSame(before[index], webhook));
    if (at !== undefined) left.delete(at);
    return at;
  });
  const saved = now.flatMap((webhook, index): Difference[] => {
    if (exact[index] !== undefined) return [];
    const at = [...left].find((place) => before[place]?.url === webhook.url);
    const common = { kind: 'webhook', name: webhook.url, loses: [] } as const;
    if (at === undefined) return [{ ...common, action: 'create', webhook, details: [] }];
    left.delete(at);
    const details = membersThatDiffer(before[at] ?? {}, webhook).map((member) => `~ ${member}`);
    return [{ ...common, action: 'update', at, webhook, details }];
  });
  const deleted = [...left].map((at): Difference => {
    const name = before[at]?.url ?? '';
    return { action: 'delete', kind: 'webhook', name, at, details: [], loses: [`webhook ${name} with its secret`] };
  });
  return [...deleted, ...saved];
};

/** Returns what must change so that the project has the meaning of the file; nothing if it has. */
export const compare = (state: ProjectState, { project: wanted, secrets }: SchemaFile): readonly Difference[] => [
  ...compareCollections(state, wanted),
  ...compareIndexes(state.project, wanted),
  ...compareSettings(state.project.settings, wanted.settings),
  ...compareSecrets(state.secrets, secrets),
  ...compareTemplates(state.project.templates, wanted.templates),
  ...compareWebhooks(state.project.webhooks, wanted.webhooks),
];
