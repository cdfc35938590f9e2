import type { Event } from './middleware/middleware-types.ts';

/** A cookie's scope; it is always `HttpOnly`, and `Secure` but over plain http on loopback. */
interface CookieScope {
  readonly path: string;
  readonly sameSite: 'Strict' | 'Lax' | 'None';
  /** Seconds; 0 removes the cookie. */
  readonly maxAge: number;
}

const loopback = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/;

/** True where the request came over plain http on this machine, which only the local gateway serves. */
export const isPlainLoopback = ({ headers, requestContext }: Event): boolean =>
  headers['x-forwarded-proto'] !== 'https' && loopback.test(requestContext.domainName);

/** The value of a `Set-Cookie` header. */
export const cookie = (event: Event, name: string, value: string, { path, sameSite, maxAge }: CookieScope): string =>
  [
    `${name}=${value}`,
    'HttpOnly',
    `Path=${path}`,
    `Max-Age=${maxAge}`,
    `SameSite=${sameSite}`,
    ...(isPlainLoopback(event) ? [] : ['Secure']),
  ].join('; ');

/** The value of a cookie that the request carries. */
export const getCookie = ({ cookies = [] }: Event, name: string): string | undefined =>
  cookies.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);

/** A cookie of ours; `counts` is false for requests that a page of a foreign site may have made the browser send. */
interface KeptCookie<Of> extends Pick<CookieScope, 'path'> {
  readonly name: (of: Of) => string;
  readonly sameSite: (event: Event) => CookieScope['sameSite'];
  readonly seconds: number;
  readonly counts: (event: Event, of: Of) => boolean;
}

/** Sets, removes and reads a cookie where it counts; elsewhere it is as if there were none. */
export const keptCookie = <Of>({ name, path, sameSite, seconds, counts }: KeptCookie<Of>) => {
  const put = (event: Event, of: Of, value: string, maxAge: number): string[] =>
    counts(event, of) ? [cookie(event, name(of), value, { path, sameSite: sameSite(event), maxAge })] : [];
  return {
    set: (event: Event, value: string, of: Of) => put(event, of, value, seconds),
    remove: (event: Event, of: Of) => put(event, of, '', 0),
    get: (event: Event, of: Of) => (counts(event, of) ? getCookie(event, name(of)) || undefined : undefined),
  };
};
