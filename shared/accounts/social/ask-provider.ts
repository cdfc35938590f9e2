import { AppError } from '../../core/errors.ts';
import { logFailure } from '../../core/log.ts';
import { trustedRequest } from '../../outbound/http.ts';
import { providerLimits } from '../../projects/social/provider-rules.ts';
import { type Parameters, sitePage } from '../account-mail.ts';

const { limitMs, maxBytes } = providerLimits;

interface ProviderRequest {
  readonly method?: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: URLSearchParams;
}

export interface ProviderResponse {
  readonly status: number;
  readonly text: string;
}

export const withForm = ({ method, headers, body }: ProviderRequest) => ({
  method,
  headers: body ? { ...headers, 'content-type': 'application/x-www-form-urlencoded' } : headers,
  body: body?.toString(),
});

/** For addresses of ours: at most 5 s and 256 KiB, without redirects. */
export const askProvider = (url: string, request: ProviderRequest): Promise<ProviderResponse> =>
  trustedRequest(url, { ...withForm(request), maxBytes, signal: AbortSignal.timeout(limitMs) });

/** The parser's message would quote the response, which may hold a token, into the log. */
export const parseJson = ({ text }: ProviderResponse): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('The response is not JSON');
  }
};

/** The message is shown to the user. */
export const signInFailed = (message: string, cause?: unknown): AppError =>
  new AppError('SOCIAL_SIGN_IN_FAILED', message, { cause });

/** The page of a site where every social sign-in ends. */
export const callbackRedirectUrl = (siteUrl: string, query: Parameters, fragment?: Parameters): string =>
  sitePage(siteUrl, 'auth/callback', query, fragment);

const internalErrorMessage = 'Something went wrong on our side. Retry.';

const messageOf = (error: unknown): string => {
  const known = error instanceof AppError ? error : undefined;
  logFailure({ code: known?.code ?? 'INTERNAL_ERROR' }, error);
  return known?.message ?? internalErrorMessage;
};

/** Throws 400 `SITE_URL_REQUIRED`. */
export const requireSiteUrl = ({ siteUrl }: { readonly siteUrl: string | null }): string => {
  if (siteUrl !== null) return siteUrl;
  throw new AppError(
    'SITE_URL_REQUIRED',
    'The project has no site URL to return to. Set siteUrl: PATCH /api/projects/:projectId on the dashboard API.',
  );
};

/** Returns what `act` returns, or a redirect to the site's callback page with `error`. */
export const orErrorRedirect = async <T>(
  site: { readonly siteUrl: string | null },
  act: (siteUrl: string) => Promise<T>,
): Promise<T | { readonly location: string }> => {
  const siteUrl = requireSiteUrl(site);
  try {
    return await act(siteUrl);
  } catch (error) {
    return { location: callbackRedirectUrl(siteUrl, { error: messageOf(error) }) };
  }
};
