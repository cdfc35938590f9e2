import * as v from 'valibot';
import { requireProvider } from '../../shared/accounts/social/providers.ts';
import { forwardSignIn } from '../../shared/accounts/users/social-site.ts';
import { AppError } from '../../shared/core/errors.ts';
import { publicEndpoint } from '../../shared/http/endpoint.ts';
import { redirect } from '../../shared/http/reply.ts';
import type { Event } from '../../shared/http/stack.ts';
import { userAuthRoutes } from './routes.ts';
import { CallbackQuery } from './schemas.ts';

const route = userAuthRoutes['forward-sign-in'];

const maxBytes = 16 * 1024;

const formOf = ({ body = '', isBase64Encoded }: Event): Record<string, string> => {
  const text = isBase64Encoded ? Buffer.from(body, 'base64').toString() : body;
  if (text.length > maxBytes) throw new AppError('BODY_TOO_LARGE', 'The form is larger than 16 KiB.');
  return Object.fromEntries(new URLSearchParams(text));
};

export const handler = publicEndpoint(route).handler(async (event, { input }) => {
  const provider = requireProvider(input.params.provider);
  const form = v.safeParse(CallbackQuery, formOf(event));
  if (!form.success) throw new AppError('INVALID_BODY', 'The provider sent unexpected form data.');
  return redirect(route, forwardSignIn(provider, form.output));
});
