import type { Problem } from '../../api/problem.ts';
import { t } from '../../text/words.ts';
import { ProblemNote } from '../../ui/problem-note.tsx';

/** Why the provider could not be reached, and where to set the project's own key. */
export const ProviderProblem = ({
  projectId,
  problem,
  onRetry,
}: {
  readonly projectId: string;
  readonly problem: Problem;
  readonly onRetry: () => void;
}) =>
  problem.code === 'OWN_MAIL_KEY_REQUIRED' || problem.code === 'PRO_PLAN_REQUIRED' ? (
    <div class="note measure">
      <p>{problem.code === 'OWN_MAIL_KEY_REQUIRED' ? t.mail.needsKey : problem.message}</p>
      {problem.code === 'OWN_MAIL_KEY_REQUIRED' && (
        <p>
          <a href={`/projects/${projectId}/settings/mail`}>{t.mail.setKey}</a>
        </p>
      )}
    </div>
  ) : (
    <ProblemNote problem={problem} onRetry={onRetry} />
  );
