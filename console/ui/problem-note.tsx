import { useLocation } from 'preact-iso/router';
import { offline } from '../api/ask.ts';
import { type Problem, problemOf } from '../api/problem.ts';
import { signOut } from '../api/sign-out.ts';
import { t } from '../text/words.ts';
import { Act } from './act.tsx';
import { Button, LinkButton } from './button.tsx';
import { Countdown } from './countdown.tsx';
import { isUnanswered, saidOf } from './problem-text.ts';
import { SafeLink } from './safe-link.tsx';
import { Unverified } from './unverified.tsx';

/** Below the project, the list of what a code says is gone. */
const lists: Readonly<Record<string, readonly [below: string, label: string]>> = {
  USER_NOT_FOUND: ['/users', t.nav.users],
  TEMPLATE_NOT_FOUND: ['/mail/templates', t.mail.parts.templates],
  WEBHOOK_NOT_FOUND: ['/settings/webhooks', t.settings.parts.webhooks],
};

/**
 * Where one finds what is still there when something is gone: the list that it was in, the project, or the list of all.
 */
const wayUp = (path: string, { code }: Problem): readonly [href: string, label: string] => {
  const [, project, collection] = /^(\/projects\/[^/]+)\/(?:documents\/([^/]+))?/.exec(path) ?? [];
  if (!project || code === 'PROJECT_NOT_FOUND') return ['/', t.nav.projects];
  if (collection && code === 'DOCUMENT_NOT_FOUND') return [`${project}/documents/${collection}`, collection];
  const [below, label] = lists[code] ?? ['', t.nav.overview];
  return [project + below, label];
};

/**
 * What went wrong, in the service's own words, with the id that its log has it under. With `onRetry` it is tried again
 * by itself as soon as that may help.
 */
export const ProblemNote = ({
  problem: error,
  onRetry,
}: {
  readonly problem: unknown;
  readonly onRetry?: (() => void) | undefined;
}) => {
  const { path } = useLocation();
  const problem = problemOf(error);
  const { status, code, requestId, docUrl, againAt } = problem;
  const [href, label] = wayUp(path, problem);
  if (!onRetry && isUnanswered(problem) && !offline.value)
    return (
      <p class="note" role="status">
        {t.problem.back}
      </p>
    );
  return (
    <div class="note problem stack" role="alert">
      {code === 'EMAIL_NOT_VERIFIED' ? <Unverified otherwise={<p>{saidOf(problem)}</p>} /> : <p>{saidOf(problem)}</p>}
      {code === 'ROLE_REQUIRED' && <p>{t.problem.role}</p>}
      {againAt !== undefined && <Countdown at={againAt} text={onRetry ? t.problem.waits : t.problem.later} />}
      {requestId && (
        <p class="small muted">
          {code} · {t.problem.requestId} <span class="mono">{requestId}</span>
          {docUrl && (
            <>
              {' · '}
              <SafeLink href={docUrl}>{t.problem.readMore}</SafeLink>
            </>
          )}
        </p>
      )}
      {code === 'EMAIL_NOT_VERIFIED' && (
        <div class="row">
          <LinkButton href="/account">{t.account.title}</LinkButton>
        </div>
      )}
      {code === 'REAUTHENTICATION_REQUIRED' && (
        <div class="row">
          <Act onAct={signOut}>{t.problem.signInAgain}</Act>
        </div>
      )}
      {(onRetry || status === 404) && (
        <div class="row">
          {onRetry && <Button onClick={onRetry}>{t.acts.retry}</Button>}
          {status === 404 && <LinkButton href={href}>{label}</LinkButton>}
        </div>
      )}
    </div>
  );
};
