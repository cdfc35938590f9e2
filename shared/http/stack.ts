import { randomUUID } from 'node:crypto';
import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import { AppError } from '../core/errors.ts';
import { currentRequest } from '../core/log.ts';
import type { Event, Middleware } from './middleware/middleware-types.ts';
import type { Reply } from './reply.ts';
import type { NamedRoute } from './route.ts';

/** A Lambda handler as API Gateway invokes it. */
export type LambdaHandler = (event: Event, context: Context) => Promise<Reply>;

/** A context with what a middleware adds. */
type With<Has, Added> = Added extends object ? Has & Added : Has;

/** A middleware, unless the stack has nothing that adds what it needs: then what is missing is the type's name. */
type Fitting<Has, Needs, Added> = Has extends Needs ? Middleware<Needs, Added> : { readonly isMissing: Needs };

type Attach = (handler: middy.MiddyfiedHandler<Event, Reply>) => void;

const outOfTime = (): never => {
  throw new AppError('SERVICE_UNAVAILABLE', 'This took too long. Please try again.', { retryAfter: 5 });
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
