import { useSignal } from '@preact/signals';
import { Problem, problemOf } from '../../api/problem.ts';
import { callOf } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { github, Mark } from '../../ui/mark.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { keepPlace } from './place-after.ts';

/** Leads to GitHub. The request is tried first, so that an error is shown here and not on an empty page. */
const leave = async (): Promise<void> => {
  const { path } = callOf('start-developer-sign-in', {});
  const answer = await fetch(path, { redirect: 'manual' });
  if (answer.type === 'opaqueredirect') {
    location.assign(path);
    return;
  }
  throw new Problem(answer.status, (await answer.json()) as Record<string, unknown>);
};

/** Signs in or up with GitHub, and returns to the requested page. */
export const GithubButton = ({ to }: { readonly to?: string | undefined }) => {
  const problem = useSignal<Problem | undefined>(undefined);
  const start = () => {
    keepPlace(to);
    leave().catch((error: unknown) => {
      problem.value = problemOf(error);
    });
  };
  return (
    <>
      <Button onClick={start}>
        <Mark outline={github} />
        {t.signIn.github}
      </Button>
      {problem.value && <ProblemNote problem={problem.value} />}
    </>
  );
};
