import * as v from 'valibot';
import { listOf } from '../core/list-of.ts';
import { isMailbox, noMailbox } from '../core/mailbox.ts';
import { atMost, exactObject, flag, textOrNull } from './setting-schemas.ts';
import { socialSettings } from './social/settings.ts';

const isWeb = (url: URL): boolean => url.protocol === 'http:' || url.protocol === 'https:';

/** A host name or address as browsers write it in an origin, with an optional port. */
const isHost = (host: string): boolean => {
  const url = URL.parse(`http://${host}`);
  return url !== null && /^[^\s\p{Cc}/?#@\\%*]+$/u.test(host) && url.hostname !== '';
};

/** An address has none. */
const hasSubdomains = (host: string): boolean => isHost(host) && isHost(`www.${host}`);

/** An absolute `http` or `https` URL of nothing but origin and path: links of mails and redirects begin with it. */
export const isSiteUrl = (text: string): boolean => {
  const url = URL.parse(text);
  const isWhole = /^https?:\/\/[^/][^\s\p{Cc}\\?#]*$/iu.test(text);
  return url !== null && isWhole && url.username === '' && url.password === '';
};

/** `*`, an exact origin, a bare host, or `*.host` (contract 1, "Domain whitelist"). */
export const isAllowedDomain = (entry: string): boolean => {
  if (entry === '*') return true;
  if (entry.includes('://')) {
    const url = URL.parse(entry);
    const [, host = ''] = entry.split('://');
    // An origin has other alphabets as `xn--…`, which nobody writes.
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

/** What a new project is made from: a name, and any setting that shall not have its default. */
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
