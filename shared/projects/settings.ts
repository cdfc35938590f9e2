import * as v from 'valibot';
import { atMost, exactObject, flag, isMailbox, noMailbox, textOrNull } from '../core/schemas.ts';
import { listOf } from '../core/text.ts';
import { portOf } from '../outbound/http.ts';
import type { Project, ProjectRecord } from './project.ts';
import { seal } from './sealed.ts';
import { socialSettings } from './social/settings.ts';

const isWeb = (url: URL): boolean => url.protocol === 'http:' || url.protocol === 'https:';

/** A host name or address as in an origin, with an optional port. */
const isHost = (host: string): boolean => {
  const url = URL.parse(`http://${host}`);
  return url !== null && /^[^\s\p{Cc}/?#@\\%*]+$/u.test(host) && url.hostname !== '';
};

/** IP addresses have no subdomains. */
const hasSubdomains = (host: string): boolean => isHost(host) && isHost(`www.${host}`);

/** An absolute HTTP(S) URL with origin and path only, because links and redirects are appended to it. */
export const isSiteUrl = (text: string): boolean => {
  const url = URL.parse(text);
  const isWhole = /^https?:\/\/[^/][^\s\p{Cc}\\?#]*$/iu.test(text);
  return url !== null && isWhole && url.username === '' && url.password === '';
};

/** `*`, an exact origin, a bare host, or `*.host`. */
export const isAllowedDomain = (entry: string): boolean => {
  if (entry === '*') return true;
  if (entry.includes('://')) {
    const url = URL.parse(entry);
    const [, host = ''] = entry.split('://');
    // Origins contain Punycode, but people enter Unicode.
    const isExact = url?.origin === entry.toLowerCase() || /[^\p{ASCII}]/u.test(host);
    return url !== null && isWeb(url) && isHost(host) && isExact;
  }
  return entry.startsWith('*.') ? hasSubdomains(entry.slice(2)) : isHost(entry);
};

const printable = /^[^\p{Cc}]*$/u;

const name = v.pipe(
  v.string('must be a String'),
  v.trim(),
  v.minLength(1, 'must not be empty'),
  atMost(100),
  v.regex(printable, 'must not contain control characters'),
);

const siteUrl = v.nullable(
  v.pipe(
    textOrNull,
    atMost(2000),
    v.check(isSiteUrl, 'must be an absolute http or https URL without user name, password, query and fragment'),
  ),
);

const allowedDomains = listOf(
  v.pipe(
    v.string('must be a String'),
    atMost(300),
    v.check(isAllowedDomain, 'must be *, an origin such as https://app.example.com, a host, or *.host'),
  ),
  100,
  'must have at most 100 entries',
  'must be an Array',
);

const signIn = exactObject({
  password: v.optional(flag),
  emailCode: v.optional(flag),
  anonymous: v.optional(flag),
  passkey: v.optional(flag),
  secondFactor: v.optional(v.picklist(['off', 'optional'], 'must be off or optional')),
});

const uploadType = v.pipe(
  v.string('must be a String'),
  atMost(100),
  v.regex(
    /^(?:\*\/\*|[a-z0-9][a-z0-9.+-]*\/(?:\*|[a-z0-9][a-z0-9.+-]*))$/,
    'must be a media type such as image/png, image/* or */*',
  ),
);

const uploads = exactObject({
  users: v.optional(flag),
  maxBytes: v.optional(
    v.pipe(
      v.number('must be a Number'),
      v.safeInteger('must be a whole number of bytes'),
      v.minValue(1, 'must be at least 1'),
    ),
  ),
  types: v.optional(
    v.pipe(
      listOf(uploadType, 50, 'must have 1 to 50 types', 'must be an Array'),
      v.minLength(1, 'must have 1 to 50 types'),
    ),
  ),
});

const providerText = (shape: RegExp, message: string) =>
  v.nullable(v.pipe(textOrNull, atMost(500), v.regex(shape, message)));

const providerApiKey = providerText(
  /^re_[A-Za-z0-9_]+$/,
  'must begin with re_, followed by letters, digits and underscores',
);

const providerWebhookSecret = providerText(
  /^whsec_(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/,
  'must be whsec_ and base64',
);

const providerFromEmail = v.nullable(v.pipe(textOrNull, v.trim(), atMost(320), v.check(isMailbox, noMailbox)));

const changeable = {
  siteUrl: v.optional(siteUrl),
  allowedDomains: v.optional(allowedDomains),
  allowPublicSignup: v.optional(flag),
  authEnabled: v.optional(flag),
  signIn: v.optional(signIn),
  uploads: v.optional(uploads),
};

export const newProjectEntries = { name, ...changeable };
export const projectChangesEntries = {
  name: v.optional(name),
  ...changeable,
  socialProviders: v.optional(socialSettings),
  providerApiKey: v.optional(providerApiKey),
  providerWebhookSecret: v.optional(providerWebhookSecret),
  providerFromEmail: v.optional(providerFromEmail),
};

type Output<E extends v.ObjectEntries> = v.InferOutput<v.ObjectSchema<E, undefined>>;

export type NewProject = Output<typeof newProjectEntries>;
export type ProjectChanges = Output<typeof projectChangesEntries>;

/** The context to which the mail key is sealed. */
export const providerKeyId = (projectId: string): string => `${projectId}/mail-provider`;

/** The context to which the mail webhook secret is sealed. */
export const webhookSecretId = (projectId: string): string => `${projectId}/mail-webhook`;

/** Returns the sealed values to store. `null` returns to the shared key, which accepts no events. */
export const providerChanges = async (
  projectId: string,
  { providerApiKey: key, providerWebhookSecret: secret }: ProjectChanges,
): Promise<Pick<ProjectRecord, 'sealedProviderApiKey' | 'sealedProviderWebhookSecret'>> => ({
  ...(key !== undefined && { sealedProviderApiKey: key && (await seal(key, providerKeyId(projectId))) }),
  ...(secret !== undefined && {
    sealedProviderWebhookSecret: secret && (await seal(secret, webhookSecretId(projectId))),
  }),
});

/** The site URL and the exact allowed domains. */
export const projectSites = ({ siteUrl, allowedDomains }: Pick<Project, 'siteUrl' | 'allowedDomains'>): string[] => [
  ...(siteUrl === null ? [] : [siteUrl]),
  ...allowedDomains.filter((entry) => !entry.startsWith('*')),
];

/** URLs normalize hosts to lower case and Punycode. */
const matchesHost = (host: string, origin: URL, isSubdomain: boolean): boolean => {
  const hostname = URL.parse(`http://${host}`)?.hostname;
  if (hostname === undefined) return false;
  const port = /:(\d+)$/.exec(host)?.[1];
  if (port !== undefined && Number(port) !== portOf(origin)) return false;
  return isSubdomain ? origin.hostname.endsWith(`.${hostname}`) : origin.hostname === hostname;
};

const matches = (entry: string, origin: URL): boolean => {
  if (entry === '*') return true;
  if (entry.includes('://')) return URL.parse(entry)?.origin === origin.origin;
  return entry.startsWith('*.') ? matchesHost(entry.slice(2), origin, true) : matchesHost(entry, origin, false);
};

/**
 * Compares `Origin` with `allowedDomains`: exact origins, bare hosts on any port unless they name one, `*.host`, and
 * `*`, which also allows a missing origin.
 */
export const allowsOrigin = (allowedDomains: readonly string[], origin: string | undefined): boolean => {
  if (allowedDomains.includes('*')) return true;
  const parsed = origin === undefined ? null : URL.parse(origin);
  return parsed !== null && parsed.origin !== 'null' && allowedDomains.some((entry) => matches(entry, parsed));
};

/** Which files users may upload with the publishable key. */
export interface UserUploads {
  readonly users: boolean;
  /** Per file; at most 10 MiB in our storage. */
  readonly maxBytes: number;
  /** Media types such as `image/png` or `image/*`. */
  readonly types: readonly string[];
}

/** Omitted settings have defaults. */
export type StoredUploads = { readonly [K in keyof UserUploads]?: UserUploads[K] | undefined };

export const userUploads = ({
  users = false,
  maxBytes = 10_485_760,
  types = ['*/*'],
}: StoredUploads = {}): UserUploads => ({
  users,
  maxBytes,
  types,
});

/** Without parameters, in lower case. */
export const bareType = (contentType: string): string => (contentType.split(';')[0] ?? '').trim().toLowerCase();

export const allowsType = ({ types }: UserUploads, contentType: string): boolean => {
  const type = bareType(contentType);
  return types.some(
    (one) => one === '*/*' || one === type || (one.endsWith('/*') && type.startsWith(one.slice(0, -1))),
  );
};
