import { collectionNameShape } from '../../collections/names.ts';
import { suffixes } from '../../documents/query/suffix-filters.ts';
import { idempotencyKeyShape } from '../../persistence/idempotency.ts';
import { openIdNameShape } from '../../projects/social/provider-rules.ts';
import { socialProviderNames } from '../../projects/social/providers.ts';
import { minKeyLength, opensSession, type Route, type SentHeader } from '../route.ts';
import { type JsonSchema, jsonSchemaOf } from './json-schema.ts';
import { insertsBy } from './responses.ts';

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
  readonly example?: unknown;
  readonly style?: 'form';
  readonly explode?: true;
}

interface Placeholder {
  readonly schema: JsonSchema;
  readonly example: string;
}

const id = (description: string, example = '6743f0c2a91b5d0012ab34cd'): Placeholder => ({
  schema: { type: 'string', pattern: '^[0-9a-fA-F]{24}$', description },
  example,
});
const text = (description: string, example = '6743f0c2a91b5d0012ab34ce'): Placeholder => ({
  schema: { type: 'string', minLength: 1, description },
  example,
});

const placeholders: Readonly<Record<string, Placeholder>> = {
  projectId: id('Id of the project.'),
  collectionName: {
    schema: { type: 'string', pattern: collectionNameShape.source, description: 'Name of the collection.' },
    example: 'posts',
  },
  indexName: text('Name of the index.', 'by-views'),
  id: text('Id of the record.'),
  sessionId: text('Id of the session.'),
  developerId: id('Id of the member.', '6743f0c2a91b5d0012ab34d1'),
  username: text('Name of the user.', 'ada'),
  provider: {
    schema: {
      type: 'string',
      pattern: `^(?:${socialProviderNames.join('|')})$|${openIdNameShape.source}`,
      description: 'The identity provider.',
    },
    example: 'github',
  },
  providerId: text("Id of the email, ours or the provider's."),
  webhookId: text('Id of the webhook.'),
  templateId: text('Id of the template; the key of a built-in one.'),
  audienceId: text('Id of the audience at the mail provider.', '78261eea-8f8b-4381-83c6-79fa7120f1cf'),
  contactId: text('Id of the contact at the mail provider, or its address.', 'e169aa45-1ecf-4183-9955-b1499d5701d3'),
  email: text('The address.', 'bounced@example.com'),
};

const documentId = id('Id of the document.', '6743f0c2a91b5d0012ab34ce');

/** Only document ids are rejected as malformed; an unknown id of another kind is 404. */
const isOfDocuments = ({ path }: Pick<Route, 'path'>): boolean => /^\/api\/data\/|\/(documents|trash)\//.test(path);

const placeholdersOf = (route: Pick<Route, 'path'>) =>
  [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const placeholder = name === 'id' && isOfDocuments(route) ? documentId : placeholders[name];
    if (!placeholder) throw new Error(`parameters.ts does not describe {${name}}`);
    return { name, ...placeholder };
  });

export const pathExampleOf = (route: Pick<Route, 'path'>): Readonly<Record<string, string>> =>
  Object.fromEntries(placeholdersOf(route).map(({ name, example }) => [name, example]));

const sent: Readonly<Record<SentHeader, { readonly in: 'header' | 'cookie'; readonly description: string }>> = {
  'x-refresh-token': { in: 'header', description: 'The refresh token, for clients that do not keep the cookie.' },
  'x-refresh-token-mode': { in: 'header', description: '`header` also returns the refresh token in the body.' },
  'idempotency-key': {
    in: 'header',
    description:
      'Up to 255 visible ASCII characters, without a comma. A repeat within 24 hours returns the first response, and nothing is done twice.',
  },
  'if-match': {
    in: 'header',
    description: 'The revision that the document must have, as in `ETag`, or `*`. A different revision returns 412.',
  },
  'if-none-match': {
    in: 'header',
    description: 'The `ETag` that the caller has. Returns 304 if it is still current.',
  },
  'svix-id': { in: 'header', description: 'Id of the delivery; `webhook-id` is accepted too.' },
  'svix-timestamp': {
    in: 'header',
    description: 'When it was signed, in seconds since 1970; `webhook-timestamp` is accepted too.',
  },
  'svix-signature': {
    in: 'header',
    description: 'Signatures over id, timestamp and body; `webhook-signature` is accepted too.',
  },
  dashboard_refresh: { in: 'cookie', description: 'The refresh token that a sign-in has set.' },
};

const idempotencyKey = (route: Route): JsonSchema => {
  const minLength = minKeyLength(route);
  return { type: 'string', ...(minLength > 1 && { minLength }), pattern: idempotencyKeyShape.source };
};

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

/** Query schemas declare defaults as strings. */
const withDefault = (schema: JsonSchema): JsonSchema =>
  schema.type === 'integer' && typeof schema.default === 'string'
    ? { ...schema, default: Number(schema.default) }
    : schema;

const writtenValue = ({ type }: JsonSchema, written: string | undefined): unknown =>
  written !== undefined && type === 'integer' ? Number(written) : written;

/** Other query parameters of a list are filters. */
const filters = (example: Readonly<Record<string, string>>): Parameter => ({
  name: 'filters',
  in: 'query',
  required: false,
  style: 'form',
  explode: true,
  description: `Any other parameter is a filter. Its name is a field or dotted path, with or without one of the suffixes ${suffixes.map((suffix) => `_${suffix}`).join(', ')}.`,
  schema: { type: 'object', additionalProperties: { type: 'string' } },
  ...(Object.keys(example).length > 0 && { example }),
});

const inQuery = ({ query, example: { query: example = {} } = {} }: Route): Parameter[] => {
  if (!query) return [];
  const { properties = {}, required = [] } = jsonSchemaOf(query) as ObjectSchema;
  const others = Object.entries(example).filter(([name]) => !Object.hasOwn(properties, name));
  return [
    ...Object.entries(properties).map(([name, schema]): Parameter => {
      const value = writtenValue(schema, example[name]);
      return {
        name,
        in: 'query',
        required: required.includes(name),
        schema: withDefault(schema),
        ...(value !== undefined && { example: value }),
      };
    }),
    ...(query.type === 'loose_object' ? [filters(Object.fromEntries(others))] : []),
  ];
};

const keyOfRefresh =
  'Up to 255 visible ASCII characters, without a comma. A repeat with the same refresh token within 60 seconds returns the same new token, while that is unused.';

const keyOfSession =
  '22 to 255 visible ASCII characters, without a comma, from at least 128 random bits: anyone who knows the key gets the session. A repeat within 10 minutes returns new tokens, while the session was not refreshed or changed.';
const keyOfSecrets =
  'Up to 255 visible ASCII characters, without a comma. A repeat returns a new signed URL for the same path, and nothing is reserved twice.';

/** What a repeat with the key gets. */
const keyDescription = (route: Route): string => {
  if (route.repeats === undefined) return keyOfRefresh;
  if (opensSession(route)) return keyOfSession;
  return route.repeats === 'reissued' ? keyOfSecrets : sent['idempotency-key'].description;
};

const insertsIfFree: Parameter = {
  name: 'if-none-match',
  in: 'header',
  required: false,
  description: '`*` inserts the document under this id, and returns 412 if the id is taken.',
  schema: { type: 'string' },
};

const inHeaders = (route: Route): Parameter[] => {
  const { repeats, example: { headers = {} } = {} } = route;
  const names = new Set([...Object.keys(headers), ...(repeats === undefined ? [] : ['idempotency-key'])]);
  return ([...names] as SentHeader[]).map((name) => ({
    name,
    ...sent[name],
    ...(name === 'idempotency-key' && { description: keyDescription(route) }),
    required: false,
    schema: name === 'idempotency-key' ? idempotencyKey(route) : { type: 'string' },
    ...(headers[name] !== undefined && { example: headers[name] }),
  }));
};

export const parametersOf = (route: Route, method: string): readonly Parameter[] => [
  ...placeholdersOf(route).map((placeholder): Parameter => ({ in: 'path', required: true, ...placeholder })),
  ...inQuery(route),
  ...inHeaders(route),
  ...(insertsBy(route, method) ? [insertsIfFree] : []),
];
