import { turnOnAccounts } from '../../api/accounts.ts';
import type { Problem } from '../../api/problem.ts';
import { users } from '../../text/users.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { say } from '../../ui/toast.tsx';

/** Says that user accounts are on, with a link to the setting that the hints are about. */
export const sayAccountsOn = (projectId: string, hints: readonly string[]): void => {
  if (hints.length === 0) say(users.on);
  else say(users.onNext, undefined, { href: `/projects/${projectId}/settings/general`, label: users.setAppUrl });
};

/** Turns user accounts on. Says which setting comes next, if one is missing. */
export const TurnOnAccounts = ({ projectId }: { readonly projectId: string }) => (
  <Act kind="main-act" onAct={async () => sayAccountsOn(projectId, await turnOnAccounts(projectId))}>
    {t.firstSteps.accounts}
  </Act>
);

/** Why there are no users to choose: none exist, user accounts are off, or another error. */
export const UsersProblem = ({
  projectId,
  problem,
  isEmpty = false,
}: {
  readonly projectId: string;
  readonly problem: Problem | undefined;
  /** The project has no users. */
  readonly isEmpty?: boolean;
}) => {
  if (isEmpty)
    return (
      <p class="small">
        {users.noneYet}{' '}
        <a href={`/projects/${projectId}/users`} target="_blank" rel="noopener">
          {t.documents.refAdd}
        </a>
      </p>
    );
  if (problem?.code !== 'COLLECTION_NOT_FOUND') return problem ? <ProblemNote problem={problem} /> : null;
  return (
    <div class="note row">
      <span>{users.off}</span>
      <TurnOnAccounts projectId={projectId} />
    </div>
  );
};
