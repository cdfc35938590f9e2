import type { Collection } from '../../collections/collection.ts';
import { findProjectByKey, type KeyMatch } from '../../collections/find-project-by-key.ts';
import { AppError } from '../../core/errors.ts';
import { currentRequest } from '../../core/request.ts';
import { cutText } from '../../core/text.ts';
import { allowsOrigin } from '../../projects/allowed-origins.ts';
import type { KeyKind, Project } from '../../projects/project.ts';
import type { Event, Middleware, Start } from '../stack.ts';

interface WithProjectLookup {
  readonly key: string | undefined;
  readonly keyMatch: Promise<KeyMatch | undefined>;
}

const headerKey = ({ headers }: Event): string | undefined => headers['x-api-key'];

/** Returns the key from the header or the query, because a browser that follows a link sends no custom headers. */
export const linkKey = (event: Event): string | undefined => {
  const query = new URLSearchParams(event.rawQueryString);
  return headerKey(event) ?? query.get('x-api-key') ?? query.get('key') ?? undefined;
};

/** Starts the project look-up in parallel with the rate limit; `apiKey` awaits it. */
export const startProjectLookup =
  (keyOf: (event: Event) => string | undefined = headerKey): Start<WithProjectLookup> =>
  (event) => {
    const key = keyOf(event);
    const keyMatch = key
      ? findProjectByKey(key, event.pathParameters?.collectionName ?? '')
      : Promise.resolve(undefined);
    // If the rate limit rejects the request, nobody awaits this promise; its failure must not end the process.
    keyMatch.catch(() => undefined);
    return { key, keyMatch };
  };

export interface Keyed {
  readonly project: Project;
  readonly keyKind: KeyKind;
  readonly namedCollection: Collection | undefined;
}

export const wrongKind: Readonly<Record<KeyKind, () => AppError>> = {
  secret: () =>
    new AppError(
      'SECRET_KEY_REQUIRED',
      "This route needs the project's secret key (sk_live_…). Call it from your server.",
    ),
  publishable: () =>
    new AppError('PUBLISHABLE_KEY_REQUIRED', "This route needs the project's publishable key (pk_live_…)."),
};

/** Throws 401 `API_KEY_MISSING` without a key, 401 `API_KEY_INVALID` for an unknown one. */
export const requireKey = (key: string | undefined, match: KeyMatch | undefined): KeyMatch => {
  if (!key) throw new AppError('API_KEY_MISSING', 'Send the API key of your project in the header x-api-key.');
  if (match) return match;
  throw new AppError('API_KEY_INVALID', 'The API key is not valid. It may have been rotated or revoked.');
};

/** Adds the project of the key. Throws 403 for a kind of key that the route does not accept. */
export const apiKey = (required?: KeyKind): Middleware<WithProjectLookup, Keyed> => ({
  before: async ({ context }) => {
    const match = requireKey(context.key, await context.keyMatch);
    const record = currentRequest.getStore();
    if (record) Object.assign(record, { projectId: match.project.id, keyKind: match.kind });
    if (required && match.kind !== required) throw wrongKind[required]();
    return { project: match.project, keyKind: match.kind, namedCollection: match.collection };
  },
});

const maxShownLength = 100;

const noOrigin =
  'This request has no Origin, and the project accepts its publishable key only from its allowed domains. On a server, use the secret key.';

const secretInPage =
  ' Never put a secret key (sk_live_…) into a page: every visitor can read it. Use the publishable key, and rotate the secret key.';

const originRefused = (origin: string | undefined, kind: KeyKind): AppError =>
  new AppError(
    'ORIGIN_NOT_ALLOWED',
    origin === undefined
      ? noOrigin
      : `${cutText(origin, maxShownLength)} is not in the allowed domains of the project (allowedDomains).${kind === 'secret' ? secretInPage : ''}`,
  );

/** Browsers may use a key only from the project's allowed origins. Without `Origin`, only the secret key works. */
export const requireAllowedOrigin = (event: Event, { project, kind }: Pick<KeyMatch, 'project' | 'kind'>): void => {
  const { origin } = event.headers;
  const isServer = kind === 'secret' && origin === undefined;
  if (!isServer && !allowsOrigin(project.allowedDomains, origin)) throw originRefused(origin, kind);
};

/** Throws 403 `ORIGIN_NOT_ALLOWED` for an origin that the project does not allow. */
export const allowedOrigin = (): Middleware<Keyed, void> => ({
  before: ({ event, context: { project, keyKind } }) => requireAllowedOrigin(event, { project, kind: keyKind }),
});

export const bearerToken = (headers: Readonly<Record<string, string | undefined>>): string | undefined =>
  /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
