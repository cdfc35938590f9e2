import type { ApiExample } from 'basalt:api';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Snippet } from '../../ui/snippet.tsx';
import { codeOf, type Language, type Names, wayOf } from './code.ts';
import { RunCall } from './run-call.tsx';
import { sampled } from './sample.ts';

/** One route: its code in several languages, and a form to call it. */
export const ApiCall = ({
  example,
  language,
  names,
  project,
  isOpen,
  onToggle,
}: {
  readonly example: ApiExample;
  readonly language: Language;
  readonly names: Names;
  readonly project: Data<'get-project'>;
  readonly isOpen: boolean;
  readonly onToggle: (open: boolean) => void;
}) => (
  <details class="card slim" open={isOpen} onToggle={(event) => onToggle(event.currentTarget.open)}>
    <summary>
      <span class="method mono" data-method={example.method}>
        {example.method}
      </span>{' '}
      <span class="mono">{example.path.replace('{collectionName}', names.collection.name)}</span>{' '}
      <span class="muted">{example.summary}</span>
    </summary>
    {isOpen && (
      <div class="stack">
        <p class="muted">{t.api.ways[wayOf(example, names)]}</p>
        <Snippet
          code={codeOf(language, sampled(example, names.collection), names, wayOf(example, names))}
          label={example.summary}
        />
        <h3>{t.api.run}</h3>
        <RunCall example={example} names={names} project={project} />
      </div>
    )}
  </details>
);
