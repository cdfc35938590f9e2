import type { Event } from './middleware/middleware-types.ts';

/** A cookie's scope; it is always `HttpOnly`, and `Secure` but over plain http on loopback. */
export interface CookieScope {
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
