import { DeployProblem } from '../../settings/deploy-problem.ts';
import type { UriTrial } from './try-uri.ts';

export interface UriRules {
  /** True where functions are running already, which a wrong URI would take the database from. */
  readonly running: boolean;
  /** True where the operator wants a URI written that cannot be tried from here. */
  readonly untried: boolean;
  readonly tryUri: (uri: string) => Promise<UriTrial>;
  readonly say: (line: string) => void;
}

/** Tries a new URI of MongoDB; `DeployProblem` where it is wrong, or might be and functions are running. */
export const requireUsableUri = async (uri: string, { running, untried, tryUri, say }: UriRules): Promise<void> => {
  const outcome = await tryUri(uri);
  if (outcome === 'works') return;
  if (outcome !== 'unreachable') {
    throw new DeployProblem(`MONGODB_URI does not work: ${outcome.refused}. The secret is as it was.`);
  }
  if (running && !untried) {
    throw new DeployProblem(
      [
        'MONGODB_URI could not be tried, as no server of it answers this machine. The secret is as it was.',
        'See that it is right and let this machine in for a moment, or deploy it as it is:  npm run deploy -- --untried',
      ].join('\n'),
    );
  }
  say('MONGODB_URI could not be tried, as no server of it answers this machine; the functions will see.');
};
