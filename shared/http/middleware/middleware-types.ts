import type middy from '@middy/core';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import type { Reply } from '../reply.ts';

/** An event of API Gateway, payload 2.0. */
export type Event = APIGatewayProxyEventV2;

/** A middleware that puts `Added` on the context, for the middleware and the handler after it. */
export type Adds<Added> = middy.MiddlewareObj<Event, Reply, Error, Context & Added>;

/** What the middleware before it has put on the context. */
export type Needs<Added> = Context & Added;

/** Starts something for a request and puts the pending result on the context. */
export type Start<Added> = (event: Event, context: Context & Added) => void;
