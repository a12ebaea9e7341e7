import Testing

/// The dashboard as people see and use it: a real worker, database and browser, shared by the suites inside, which come
/// one after the other.
@Suite(.serialized, .dashboardVisit) enum DashboardBrowserTests {}
