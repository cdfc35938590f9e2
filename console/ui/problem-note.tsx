import { problemOf } from '../api/problem.ts';
import { t } from '../text/words.ts';
import { Button } from './button.tsx';

/** What went wrong, in the service's own words, with the id that its log has it under. */
export const ProblemNote = ({
  problem: error,
  onRetry,
}: {
  readonly problem: unknown;
  readonly onRetry?: (() => void) | undefined;
}) => {
  const problem = problemOf(error);
  const { status, code, message, requestId, retryAfter, passes } = problem;
  return (
    <div class="note problem" role="alert">
      <p>{message || (status === 0 ? t.problem.none : t.problem.unknown)}</p>
      {code === 'ROLE_REQUIRED' && <p>{t.problem.role}</p>}
      {passes && retryAfter !== undefined && <p>{t.problem.waits(retryAfter)}</p>}
      {requestId && (
        <p class="small muted">
          {code} · {t.problem.requestId} <span class="mono">{requestId}</span>
        </p>
      )}
      {onRetry && <Button onClick={onRetry}>{t.acts.retry}</Button>}
    </div>
  );
};
