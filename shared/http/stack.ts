import { randomUUID, timingSafeEqual } from 'node:crypto';
import middy from '@middy/core';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import type { Client } from '../accounts/sessions.ts';
import { rateLimits } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import { currentRequest } from '../core/log.ts';
import type { Reply } from './reply.ts';
import type { NamedRoute } from './route.ts';

/** An event of API Gateway, payload 2.0. */
export type Event = APIGatewayProxyEventV2;

/** What a middleware looks at: the event, and the context with what those before it have added. */
interface Incoming<Needs> {
  readonly event: Event;
  readonly context: Context & Needs;
}

/** What a middleware looks at when the response is made, or something was thrown on the way. */
type Outgoing<Known> = middy.Request<Event, Reply, Error, Context & Partial<Known>>;

/**
 * One concern of the path of a request. It reads `Needs` of the context, and what `before` returns is added to the
 * context, for the middleware and the handler after it; `void` where it only lets through or refuses.
 */
export interface Middleware<Needs, Added> {
  readonly before: (incoming: Incoming<Needs>) => Added | Promise<Added>;
  readonly after?: (outgoing: Outgoing<Added>) => void | Promise<void>;
  readonly onError?: (outgoing: Outgoing<Added>) => void | Promise<void>;
}

/** Starts something for a request and returns the pending result. */
export type Start<Added> = (event: Event) => Added;

/** A Lambda handler as API Gateway invokes it. */
export type LambdaHandler = (event: Event, context: Context) => Promise<Reply>;

/** A context with what a middleware adds. */
type With<Has, Added> = Added extends object ? Has & Added : Has;

/** A middleware, unless the stack has nothing that adds what it needs: then what is missing is the type's name. */
type Fitting<Has, Needs, Added> = Has extends Needs ? Middleware<Needs, Added> : { readonly isMissing: Needs };

type Attach = (handler: middy.MiddyfiedHandler<Event, Reply>) => void;

const outOfTime = (): never => {
  throw new AppError('SERVICE_UNAVAILABLE', 'The request took too long. Try again.', { retryAfter: 5 });
};

const toMiddy = <Needs, Added>({
  before,
  after,
  onError,
}: Middleware<Needs, Added>): middy.MiddlewareObj<Event, Reply, Error, Context & Needs & Partial<Added>> => ({
  before: (request) => {
    const added = before(request);
    // Only what is pending waits: most have their answer at once.
    if (added instanceof Promise) {
      return added.then((pending) => {
        Object.assign(request.context, pending);
      });
    }
    Object.assign(request.context, added);
    return undefined;
  },
  ...(after && { after }),
  ...(onError && { onError }),
});

/**
 * The path of a request, one middleware after the other. `Has` is what those so far add to the context, derived from
 * them: one whose needs nobody before it has met does not compile, nor does a handler that asks for more.
 */
export class Stack<Has> {
  readonly #route: NamedRoute;
  readonly #attached: readonly Attach[];

  private constructor(route: NamedRoute, attached: readonly Attach[]) {
    this.#route = route;
    this.#attached = attached;
  }

  /** A path without any middleware yet. */
  static of(route: NamedRoute): Stack<unknown> {
    return new Stack(route, []);
  }

  use<Needs, Added>(middleware: Middleware<Needs, Added> & Fitting<Has, Needs, Added>): Stack<With<Has, Added>> {
    return new Stack(this.#route, [...this.#attached, (handler) => handler.use(toMiddy(middleware))]);
  }

  /** The handler at its end; one second before the Lambda timeout it still responds, with an error in the envelope. */
  handler(act: (event: Event, context: Context & Has) => Promise<Reply>): LambdaHandler {
    const { id } = this.#route;
    const path = middy<Event, Reply>({ timeoutEarlyInMillis: 1000, timeoutEarlyResponse: outOfTime });
    for (const attach of this.#attached) attach(path);
    // Whatever `Has` says was added by the middleware of this very stack.
    const run = path.handler((event: Event, context: Context) => act(event, context as Context & Has));
    return (event, context) =>
      currentRequest.run(
        {
          requestId: event.requestContext.requestId || randomUUID(),
          route: id,
          startedAt: performance.now(),
          databaseMs: 0,
        },
        () => run(event, context),
      );
  }
}

const isSecret = (text = '', secret: string): boolean => {
  const [given, wanted] = [Buffer.from(text), Buffer.from(secret)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
};

/**
 * The address that a request came from: as the gateway sees it, or, through the console, as CloudFront saw it, which
 * shows by a secret header that it is CloudFront. What anybody else says in a header is not read
 * (contract 8, "Viewers").
 */
export const sourceAddress = ({ headers, requestContext: { http } }: Event): string => {
  const { VIEWER_SECRET } = rateLimits();
  if (VIEWER_SECRET === '' || !isSecret(headers['x-viewer-secret'], VIEWER_SECRET)) return http.sourceIp;
  return headers['x-viewer-address'] || http.sourceIp;
};

/** The client behind a request: where it came from, and what it calls itself. */
export const clientOf = (event: Event): Client => ({
  ip: sourceAddress(event),
  userAgent: event.requestContext.http.userAgent ?? '',
});
