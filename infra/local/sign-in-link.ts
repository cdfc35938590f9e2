import { randomBytes } from 'node:crypto';
import { dashboardRoutes } from '../../functions/routes.ts';
import { clock } from '../../shared/core/clock.ts';
import { functionName } from '../build/function-files.ts';
import { GatewayEvent } from './event.ts';
import type { Invoke } from './gateway.ts';

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

const lifetimeMs = 10 * 60_000;
const path = '/api/auth/link';
const signIn = functionName('dashboard/auth', dashboardRoutes['dashboard/auth']['sign-in-developer'].id);

const tokenOf = (body: string | undefined): string => {
  try {
    return String((JSON.parse(body ?? '') as { readonly token?: unknown }).token);
  } catch {
    return '';
  }
};

/**
 * Single-use links that sign in to the console without a password and expire after ten minutes. `npm start` prints one.
 * A deployment has no such links.
 */
export class SignInLinks {
  readonly #open = new Map<string, Credentials & { readonly expires: number }>();

  /** Returns a link. Its token is in the fragment, which browsers do not send to servers. */
  offer(dashboardUrl: string, credentials: Credentials): string {
    const token = randomBytes(32).toString('base64url');
    this.#open.set(token, { ...credentials, expires: clock.now() + lifetimeMs });
    return `${dashboardUrl}/#link=${token}`;
  }

  #take(token: string): Credentials | undefined {
    const found = this.#open.get(token);
    this.#open.delete(token);
    return found && found.expires > clock.now() ? { email: found.email, password: found.password } : undefined;
  }

  /** Adds the route `POST /api/auth/link {token}`. It responds like a sign-in; with a wrong token, like an unknown route. */
  around(invoke: Invoke): Invoke {
    return (name, event) => {
      if (!(event instanceof GatewayEvent) || event.rawPath !== path || event.requestContext.http.method !== 'POST') {
        return invoke(name, event);
      }
      const credentials = this.#take(tokenOf(event.body));
      if (!credentials) return invoke(name, event);
      return invoke(signIn, Object.assign(event, { body: JSON.stringify(credentials), isBase64Encoded: false }));
    };
  }
}
