import { expect, test } from 'vitest';
import { everything, type Json, ofType, routesOf, type Synthesis, synthesise } from './synthesis.ts';

const synthesis = synthesise(everything);
const withoutOrigins = synthesise();

const corsOf = ({ stacks }: Synthesis, name: string): Json | undefined => {
  const resources = stacks.get(`Basalt-${name}`) ?? stacks.get(`Staging-${name}`) ?? new Map();
  const [api] = ofType(resources, 'AWS::ApiGatewayV2::Api').values();
  return api?.Properties.CorsConfiguration;
};

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const exposed = ['retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'x-request-id'];

test('public API accepts any web page with credentials', () => {
  expect(corsOf(synthesis, 'PublicApi')).toEqual({
    AllowCredentials: true,
    AllowOrigins: ['https://*', 'http://*'],
    AllowMethods: methods,
    AllowHeaders: [
      'content-type',
      'authorization',
      'x-api-key',
      'x-refresh-token',
      'x-refresh-token-mode',
      'idempotency-key',
      'if-match',
      'if-none-match',
    ],
    ExposeHeaders: [...exposed, 'etag', 'idempotent-replayed'],
    MaxAge: 7200,
  });
});

test('dashboard API accepts only configured web pages', () => {
  expect(corsOf(synthesis, 'DashboardApi')).toEqual({
    AllowCredentials: true,
    AllowOrigins: ['https://app.example.com', 'http://localhost:3000'],
    AllowMethods: methods,
    AllowHeaders: ['content-type', 'authorization', 'idempotency-key', 'if-match', 'if-none-match'],
    ExposeHeaders: [...exposed, 'etag'],
    MaxAge: 7200,
  });
});

test('dashboard API accepts no web page when none is configured', () => {
  expect(corsOf(withoutOrigins, 'DashboardApi')).toBeUndefined();
});

test('preflight is handled outside of $default by a function without permissions', () => {
  const resources = synthesis.stacks.get('Staging-PublicApi') ?? new Map();
  const preflight = routesOf(resources).find(({ key }) => key === 'OPTIONS /{proxy+}');
  expect(preflight?.function.Properties.Environment).toBeUndefined();
  expect(preflight?.function.Properties.Code).toEqual({
    ZipFile: 'exports.handler = async () => ({ statusCode: 204 });',
  });
});
