import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Route, Router, useLocation } from 'preact-iso/router';
import { onceBack } from './api/ask.ts';
import type { Problem } from './api/problem.ts';
import { problemOf } from './api/problem.ts';
import { begin, developer, linkTicket, sessionEnded } from './api/session.ts';
import { FromSignIn } from './pages/sign-in/from-sign-in.tsx';
import { SecondStep } from './pages/sign-in/second-step.tsx';
import { SessionEnded } from './pages/sign-in/session-ended.tsx';
import { SignIn } from './pages/sign-in/sign-in.tsx';
import { Boundary } from './ui/boundary.tsx';
import { Frame } from './ui/frame.tsx';
import { Gone } from './ui/gone.tsx';
import { lazy } from './ui/lazy.ts';
import { ProblemNote } from './ui/problem-note.tsx';
import { Redirect } from './ui/redirect.tsx';

const Projects = lazy(() => import('./pages/projects/projects.tsx').then((page) => page.Projects));
const SignUp = lazy(() => import('./pages/sign-in/sign-up.tsx').then((page) => page.SignUp));
const ResetPassword = lazy(() => import('./pages/sign-in/reset-password.tsx').then((page) => page.ResetPassword));
const SignInByCode = lazy(() => import('./pages/sign-in/sign-in-by-code.tsx').then((page) => page.SignInByCode));
const GithubReturn = lazy(() => import('./pages/sign-in/github-return.tsx').then((page) => page.GithubReturn));
const VerifyEmail = lazy(() => import('./pages/sign-in/verify-email.tsx').then((page) => page.VerifyEmail));
const AcceptInvitation = lazy(() =>
  import('./pages/projects/accept-invitation.tsx').then((page) => page.AcceptInvitation),
);
const Api = lazy(() => import('./pages/api/api.tsx').then((page) => page.Api));
const Overview = lazy(() => import('./pages/overview/overview.tsx').then((page) => page.Overview));
const Documents = lazy(() => import('./pages/documents/documents.tsx').then((page) => page.Documents));
const Aggregate = lazy(() => import('./pages/documents/aggregate.tsx').then((page) => page.Aggregate));
const Trash = lazy(() => import('./pages/documents/trash.tsx').then((page) => page.Trash));
const Schema = lazy(() => import('./pages/schema/schema.tsx').then((page) => page.Schema));
const Access = lazy(() => import('./pages/access/access.tsx').then((page) => page.Access));
const AccessOverview = lazy(() => import('./pages/access/access-overview.tsx').then((page) => page.AccessOverview));
const Effects = lazy(() => import('./pages/effects/effects.tsx').then((page) => page.Effects));
const Indexes = lazy(() => import('./pages/documents/indexes.tsx').then((page) => page.Indexes));
const Transfers = lazy(() => import('./pages/documents/transfers.tsx').then((page) => page.Transfers));
const NewCollection = lazy(() => import('./pages/schema/new-collection.tsx').then((page) => page.NewCollection));
const Users = lazy(() => import('./pages/users/users.tsx').then((page) => page.Users));
const Files = lazy(() => import('./pages/files/files.tsx').then((page) => page.Files));
const Mail = lazy(() => import('./pages/mail/mail.tsx').then((page) => page.Mail));
const Requests = lazy(() => import('./pages/requests/requests.tsx').then((page) => page.Requests));
const Usage = lazy(() => import('./pages/usage/usage.tsx').then((page) => page.Usage));
const Settings = lazy(() => import('./pages/settings/settings.tsx').then((page) => page.Settings));
const Account = lazy(() => import('./pages/account/account.tsx').then((page) => page.Account));

const [githubReturn, byCode] = ['/auth/callback', '/auth/code'];

const Signed = ({ path }: { readonly path: string }) => (
  <Frame>
    <Boundary path={path}>
      <Router>
        <Route path="/" component={Projects} />
        <Route path="/sign-in" component={FromSignIn} />
        <Route path="/sign-up" component={FromSignIn} />
        <Route path="/account" component={Account} />
        <Route path="/verify-email" component={VerifyEmail} />
        <Route path="/reset-password" component={ResetPassword} />
        <Route path="/invitations/accept" component={AcceptInvitation} />
        <Route path="/projects/:projectId/api" component={Api} />
        <Route path="/projects/:projectId" component={Overview} />
        <Route path="/projects/:projectId/documents/:collectionName" component={Documents} />
        <Route path="/projects/:projectId/documents/:collectionName/aggregate" component={Aggregate} />
        <Route path="/projects/:projectId/documents/:collectionName/trash" component={Trash} />
        <Route path="/projects/:projectId/documents/:collectionName/schema" component={Schema} />
        <Route path="/projects/:projectId/documents/:collectionName/access" component={Access} />
        <Route path="/projects/:projectId/documents/:collectionName/effects" component={Effects} />
        <Route path="/projects/:projectId/documents/:collectionName/indexes" component={Indexes} />
        <Route path="/projects/:projectId/documents/:collectionName/transfers" component={Transfers} />
        <Route path="/projects/:projectId/new-collection" component={NewCollection} />
        <Route path="/projects/:projectId/access" component={AccessOverview} />
        <Route path="/projects/:projectId/users" component={Users} />
        <Route path="/projects/:projectId/files" component={Files} />
        <Route path="/projects/:projectId/mail/:part?" component={Mail} />
        <Route path="/projects/:projectId/requests" component={Requests} />
        <Route path="/projects/:projectId/usage" component={Usage} />
        <Route path="/projects/:projectId/settings/:part?" component={Settings} />
        <Route default component={Gone} />
      </Router>
    </Boundary>
  </Frame>
);

const Unsigned = () => (
  <Router>
    <Route path="/sign-in" component={SignIn} />
    <Route path="/sign-up" component={SignUp} />
    <Route path="/reset-password" component={ResetPassword} />
    <Route path="/verify-email" component={VerifyEmail} />
    <Route path={githubReturn} component={GithubReturn} />
    <Route path={byCode} component={SignInByCode} />
    <Route default component={Redirect} />
  </Router>
);

/** Address → page. Anyone who is not signed in sees the sign-in page first, and then the requested address. */
export const Pages = () => {
  const { path } = useLocation();
  const problem = useSignal<Problem | undefined>(undefined);
  const start = () => {
    problem.value = undefined;
    begin().catch((error: unknown) => {
      problem.value = problemOf(error);
    });
  };
  const { againAt, status } = problem.value ?? {};
  useEffect(start, []);
  useEffect(() => {
    if (status === 0) return onceBack(start);
    if (againAt === undefined) return undefined;
    const timer = setTimeout(start, againAt - Date.now());
    return () => clearTimeout(timer);
  }, [againAt, status]);
  if (developer.value === undefined) {
    return problem.value ? (
      <div class="alone">
        <main>
          <ProblemNote problem={problem.value} onRetry={start} />
        </main>
      </div>
    ) : null;
  }
  if (linkTicket.value !== undefined) {
    return (
      <SecondStep
        ticket={linkTicket.value}
        onDone={() => {
          linkTicket.value = undefined;
        }}
      />
    );
  }
  // After GitHub or an email link, someone else may already be signed in.
  if (developer.value === null || path === githubReturn || path === byCode) return <Unsigned />;
  return (
    <>
      <Signed path={path} />
      {sessionEnded.value && <SessionEnded />}
    </>
  );
};
