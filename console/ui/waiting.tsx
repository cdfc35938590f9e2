import type { Known } from '../api/query.ts';
import { t } from '../text/words.ts';

/** Stands where something will be that is being loaded, as soon as that takes longer than a moment. */
export const Waiting = ({ of: { data, problem } }: { readonly of: Known<unknown> }) =>
  data === undefined && problem === undefined ? (
    <div class="waits" role="status" aria-busy="true">
      <span class="spoken">{t.loading}</span>
    </div>
  ) : null;
