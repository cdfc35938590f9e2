import { t } from '../../text/words.ts';
import { Cell } from './cell.tsx';
import type { Change } from './document-draft.ts';

export const ChangesList = ({ changes }: { readonly changes: readonly Change[] }) =>
  changes.length === 0 ? (
    <p class="muted small">{t.documents.noChanges}</p>
  ) : (
    <section class="changes" aria-label={t.documents.changes}>
      <h3 class="small muted">{t.documents.changes}</h3>
      <dl>
        {changes.map(({ key, before, after }) => (
          <div key={key}>
            <dt class="mono">{key}</dt>
            <dd>
              <del>
                <Cell value={before} />
              </del>{' '}
              →{' '}
              <ins>
                <Cell value={after} />
              </ins>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
