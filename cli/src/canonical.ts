/** The JSON of a schema file or of the dashboard API. */
export type JsonObject = { readonly [name: string]: unknown };

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A field of a schema, or the elements of an `Array`. */
export interface FieldShape extends JsonObject {
  readonly key?: string;
  readonly type: string;
  readonly fields?: readonly FieldShape[];
  readonly items?: FieldShape;
}

export interface CollectionShape extends JsonObject {
  readonly schema: readonly FieldShape[] | null;
  readonly rls?: JsonObject;
  readonly indexes?: readonly IndexShape[];
}

export interface IndexShape extends JsonObject {
  readonly keys: JsonObject;
  readonly name?: string;
}

export interface TemplateShape extends JsonObject {
  readonly subject: string;
}

export interface WebhookShape extends JsonObject {
  readonly url: string;
}

/** A project without secrets, without defaults, sorted by name. The same meaning has the same form. */
export interface ProjectShape {
  readonly collections: Readonly<Record<string, CollectionShape>>;
  readonly settings: JsonObject;
  readonly templates: Readonly<Record<string, TemplateShape>>;
  readonly webhooks: readonly WebhookShape[];
}

/** A comparable text: the order of an object's members does not matter. */
export const meaningOf = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  ) ?? '';

export const isSame = (one: unknown, other: unknown): boolean => meaningOf(one) === meaningOf(other);

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1;

export const sorted = <T>(object: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(object).sort(byName));

/** Removes members that are `null` or equal to their default. */
const withoutDefaults = (object: JsonObject, defaults: JsonObject = {}): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name, value]) => value != null && !isSame(value, defaults[name])));

const fieldDefaults = {
  required: false,
  unique: false,
  searchable: false,
  exists: false,
  integer: false,
  uniqueItems: false,
  onDelete: 'none',
  fields: [],
} as const;

const canonicalField = (raw: JsonObject): FieldShape => {
  const { items, fields, default: fallback, ...rest } = withoutDefaults(raw, fieldDefaults);
  // The service does not keep a default that is never used.
  const isUsed = rest.required !== true || rest.write === 'server';
  return {
    type: String(raw.type),
    ...rest,
    ...(fallback !== undefined && isUsed && { default: fallback }),
    ...(isObject(items) && { items: canonicalField(items) }),
    ...(Array.isArray(fields) && { fields: fields.map(canonicalField) }),
  };
};

const canonicalRls = (raw: unknown): JsonObject | undefined => {
  if (!isObject(raw) || raw.enabled !== true) return undefined;
  const byRules = raw.mode === 'rules';
  const ownerField = byRules ? '' : 'userId';
  return withoutDefaults(raw, { mode: 'public-read', ownerField, trash: 'everyone', requires: 'none', rules: {} });
};

const canonicalUnique = (raw: unknown): readonly JsonObject[] | undefined => {
  if (!Array.isArray(raw) || raw.length === 0) return undefined;
  const lists = raw.map((list: unknown) => {
    const { fields, ...flags } = Array.isArray(list) ? { fields: list } : (list as JsonObject);
    return { fields, ...withoutDefaults(flags, { ignoreCase: false, keepTrashed: false }) };
  });
  return lists.sort((one, other) => (meaningOf(one) < meaningOf(other) ? -1 : 1));
};

/** The name that an index has if it is given none. */
const defaultIndexName = (keys: JsonObject): string =>
  Object.entries(keys)
    .map(([path, kind]) => `${path}_${String(kind)}`)
    .join('_');

export const nameOfIndex = ({ name, keys }: IndexShape): string => name ?? defaultIndexName(keys);

/** The order of an index's keys matters. */
export const indexMeaning = ({ keys }: IndexShape): string => JSON.stringify(Object.entries(keys));

const canonicalIndexes = (raw: unknown): readonly IndexShape[] | undefined => {
  if (!Array.isArray(raw) || raw.length === 0) return undefined;
  const indexes = raw.map(
    ({ keys, name }: IndexShape): IndexShape => ({
      keys,
      ...(name != null && name !== defaultIndexName(keys) && { name }),
    }),
  );
  return indexes.sort((one, other) => (nameOfIndex(one) < nameOfIndex(other) ? -1 : 1));
};

/** Users sign in by `email`, so the service makes it unique. */
const isAlwaysUnique = (collection: string, { key }: FieldShape): boolean => collection === 'users' && key === 'email';

const canonicalSchema = (name: string, raw: unknown, rls: JsonObject | undefined): readonly FieldShape[] | null => {
  if (!Array.isArray(raw)) return null;
  const owner = rls && (rls.ownerField ?? (rls.mode === 'rules' ? undefined : 'userId'));
  return raw.map((value: JsonObject) => {
    const { unique, default: fallback, ...field } = canonicalField(value);
    return {
      ...field,
      ...(unique === true && !isAlwaysUnique(name, field) && { unique }),
      // The writing user is the owner, so the service does not keep a default of this field.
      ...(fallback !== undefined && field.key !== owner && { default: fallback }),
    };
  });
};

const collectionDefaults = { searchLanguage: 'none', closed: false, changes: false, effects: [] } as const;

/** Members of a collection in a schema file. */
export const collectionMembers = [
  ...(['schema', 'rls', 'searchLanguage', 'unique', 'closed'] as const),
  ...(['changes', 'effects', 'partition', 'indexes'] as const),
] as const;

export const canonicalCollection = (name: string, raw: JsonObject): CollectionShape => {
  const rls = canonicalRls(raw.rls);
  const { searchLanguage, closed, changes, effects, partition } = raw;
  const unique = canonicalUnique(raw.unique);
  const indexes = canonicalIndexes(raw.indexes);
  const options = { searchLanguage, unique, closed, changes, effects, partition, indexes };
  return {
    schema: canonicalSchema(name, raw.schema, rls),
    ...(rls && { rls }),
    ...withoutDefaults(options, collectionDefaults),
  };
};

/** Settings of a new project. */
export const settingDefaults = {
  siteUrl: null,
  allowedDomains: ['*'],
  allowPublicSignup: true,
  authEnabled: false,
  strictSessions: false,
  signIn: { password: true, emailCode: false, anonymous: false, passkey: false, secondFactor: 'off' },
  uploads: { users: false, maxBytes: 10_485_760, types: ['*/*'] },
  providerFromEmail: null,
} as const satisfies JsonObject;

const defaultOf: JsonObject = settingDefaults;

const canonicalSetting = (name: string, value: unknown): unknown => {
  if (Array.isArray(value)) return [...value].sort();
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([member, inner]) => [
    member,
    Array.isArray(inner) ? [...inner].sort() : inner,
  ]);
  const rest = withoutDefaults(Object.fromEntries(members) as JsonObject, defaultOf[name] as JsonObject);
  return Object.keys(rest).length > 0 ? rest : undefined;
};

const canonicalProviders = (raw: unknown): JsonObject | undefined => {
  const kept = Object.entries(isObject(raw) ? raw : {}).flatMap(([name, provider]) => {
    const rest = isObject(provider) ? withoutDefaults(provider, { enabled: false }) : {};
    return Object.keys(rest).length > 0 ? [[name, rest] as const] : [];
  });
  return kept.length > 0 ? Object.fromEntries(kept.sort(byName)) : undefined;
};

/** Keeps the settings that a file can have; secrets are removed before. */
export const canonicalSettings = (raw: JsonObject): JsonObject => {
  const names = Object.keys(settingDefaults);
  const settings = Object.fromEntries(names.map((name) => [name, canonicalSetting(name, raw[name])]));
  return withoutDefaults({ ...settings, socialProviders: canonicalProviders(raw.socialProviders) }, defaultOf);
};

const trimmed = (value: unknown): unknown => (typeof value === 'string' ? value.trim() : value);

/** A blank part of an email counts as none. */
const partOf = (value: unknown): unknown => (typeof value === 'string' && value.trim() === '' ? null : value);

export const canonicalTemplate = ({ key, subject, html, text }: JsonObject): TemplateShape =>
  withoutDefaults({ key, subject: trimmed(subject), html: partOf(html), text: partOf(text) }) as TemplateShape;

export const canonicalWebhook = ({ url, events, collections, enabled }: JsonObject): WebhookShape => ({
  url: URL.canParse(String(url)) ? new URL(String(url)).href : String(url),
  ...withoutDefaults(
    {
      events: Array.isArray(events) ? [...events].sort() : events,
      collections: Array.isArray(collections) ? [...collections].sort() : collections,
      enabled,
    },
    { enabled: true },
  ),
});

export const canonicalWebhooks = (raw: readonly JsonObject[]): readonly WebhookShape[] =>
  raw.map(canonicalWebhook).sort((one, other) => (meaningOf(one) < meaningOf(other) ? -1 : 1));
