// swift-tools-version: 6.3
import PackageDescription

// Targets stand in layer order: arrows only point up this list.

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func executable(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

func library(_ name: String, pkgConfig: String?, package: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([package])])
}

let package = Package(
    name: "push-fanout",
    targets: [
        // C libraries, from Debian
        library("CLibPQ", pkgConfig: "libpq", package: "libpq-dev"),
        library("CLibCurl", pkgConfig: "libcurl", package: "libcurl4-openssl-dev"),
        library("COpenSSL", pkgConfig: "openssl", package: "libssl-dev"),
        library("CMicroHTTPD", pkgConfig: "libmicrohttpd", package: "libmicrohttpd-dev"),
        library("CNGHTTP2", pkgConfig: "libnghttp2", package: "libnghttp2-dev"),
        library("CLinux", pkgConfig: nil, package: "libc6-dev"),

        // Values and rules: no I/O
        module("Locking"),
        module("PushModel"),
        module("Observability", ["Locking"]),
        module("Cryptography", ["COpenSSL"]),
        module("Localization", ["PushModel"]),
        module("Fanout", ["PushModel", "Cryptography"]),

        // The outside: database, signatures, HTTP/2
        module("Postgres", ["CLibPQ", "CLinux"]),
        .target(
            name: "DeliveryQueue",
            dependencies: ["Postgres", "PushModel"],
            resources: [.embedInCode("Migrations")],
            swiftSettings: settings
        ),
        module("JSONWebToken", ["Cryptography"]),
        module("HTTPTransport", ["CLibCurl", "COpenSSL", "Locking"]),

        // The two providers
        module("APNS", ["PushModel", "Localization", "JSONWebToken", "Cryptography", "HTTPTransport", "Locking"]),
        module("FCM", ["PushModel", "Localization", "JSONWebToken", "Cryptography", "HTTPTransport", "Locking"]),

        // The worker
        module(
            "Delivery",
            [
                "PushModel", "Localization", "Fanout", "Postgres", "DeliveryQueue", "HTTPTransport", "APNS", "FCM",
                "Observability", "Locking", "Cryptography",
            ]
        ),

        // The operator's side
        module("HTTPServer", ["CMicroHTTPD", "Locking"]),
        module("QueueInspection", ["PushModel", "Postgres", "DeliveryQueue", "Fanout"]),
        .target(
            name: "Dashboard",
            dependencies: ["PushModel", "Localization", "QueueInspection"],
            resources: [.embedInCode("Assets")],
            swiftSettings: settings
        ),
        module(
            "ControlPlane",
            [
                "PushModel", "Localization", "Fanout", "Postgres", "DeliveryQueue", "QueueInspection", "APNS", "FCM",
                "HTTPTransport", "HTTPServer", "Dashboard", "Delivery", "JSONWebToken", "Observability", "Locking",
                "Cryptography",
            ]
        ),

        // The double of both providers
        module("PushSimulator", ["CNGHTTP2", "COpenSSL", "CLinux", "JSONWebToken", "Cryptography", "Locking"]),

        // Generated inputs for every parser of what comes from outside
        module(
            "Fuzzing",
            [
                "PushModel", "Localization", "Postgres", "APNS", "FCM", "HTTPTransport", "JSONWebToken", "Cryptography",
                "PushSimulator", "Locking",
            ]
        ),

        module("CommandLineArguments"),
        executable(
            "push-fanout",
            [
                "CommandLineArguments", "Delivery", "DeliveryQueue", "Postgres", "PushModel", "Localization", "Fanout",
                "APNS", "FCM", "HTTPTransport", "Observability", "Cryptography", "Locking", "QueueInspection",
                "ControlPlane", "HTTPServer", "JSONWebToken",
            ]
        ),
        executable("push-simulator", ["CommandLineArguments", "PushSimulator", "Cryptography"]),
        executable(
            "push-benchmark",
            [
                "CommandLineArguments", "HTTPTransport", "PushSimulator", "Delivery", "DeliveryQueue", "Postgres",
                "PushModel", "Localization", "APNS", "FCM", "Cryptography", "Observability", "Locking",
            ]
        ),
        executable("push-fuzz", ["CommandLineArguments", "Fuzzing", "Locking"]),

        // Tests; TestSupport holds what several of them share: a private PostgreSQL, fixtures, child processes
        .target(
            name: "TestSupport",
            dependencies: ["Postgres", "DeliveryQueue", "PushModel", "Cryptography", "Locking"],
            path: "Tests/TestSupport",
            swiftSettings: settings
        ),
        tests("PushModelTests", ["PushModel", "Locking"]),
        tests("CryptographyTests", ["Cryptography", "TestSupport"]),
        tests("JSONWebTokenTests", ["JSONWebToken", "Cryptography", "TestSupport"]),
        tests("LocalizationTests", ["Localization", "PushModel", "TestSupport"]),
        tests("FanoutTests", ["Fanout", "PushModel", "TestSupport"]),
        tests("PostgresTests", ["Postgres", "TestSupport"]),
        tests("DeliveryQueueTests", ["DeliveryQueue", "Postgres", "PushModel", "Fanout", "TestSupport"]),
        tests("HTTPTransportTests", ["HTTPTransport", "TestSupport", "Locking", "CLibCurl"]),
        tests(
            "APNSTests",
            [
                "APNS", "PushModel", "Localization", "JSONWebToken", "Cryptography", "HTTPTransport", "Locking",
                "TestSupport",
            ]
        ),
        tests(
            "FCMTests",
            [
                "FCM", "PushModel", "Localization", "JSONWebToken", "Cryptography", "HTTPTransport", "Locking",
                "TestSupport",
            ]
        ),
        tests(
            "DeliveryTests",
            [
                "Delivery", "PushModel", "Localization", "Fanout", "HTTPTransport", "APNS", "FCM", "DeliveryQueue",
                "Postgres", "Observability", "Locking", "Cryptography", "JSONWebToken", "PushSimulator", "TestSupport",
            ]
        ),
        tests("ObservabilityTests", ["Observability", "Locking", "TestSupport"]),
        tests("HTTPServerTests", ["HTTPServer", "Locking", "TestSupport", "CLinux"]),
        tests(
            "QueueInspectionTests",
            ["QueueInspection", "DeliveryQueue", "Postgres", "PushModel", "Fanout", "Locking", "TestSupport"]
        ),
        tests("DashboardTests", ["Dashboard", "QueueInspection", "PushModel", "Localization", "TestSupport"]),
        tests(
            "ControlPlaneTests",
            [
                "ControlPlane", "HTTPServer", "QueueInspection", "DeliveryQueue", "Postgres", "PushModel",
                "Localization", "Observability", "Delivery", "Dashboard", "JSONWebToken", "Locking", "TestSupport",
            ]
        ),
        tests("PushSimulatorTests", ["PushSimulator", "HTTPTransport", "JSONWebToken", "Cryptography", "TestSupport"]),
        tests("FuzzingTests", ["Fuzzing"]),
        tests("CommandLineArgumentsTests", ["CommandLineArguments"]),
        tests(
            "PushFanoutTests",
            [
                "push-fanout", "CommandLineArguments", "Postgres", "PushModel", "DeliveryQueue", "Delivery", "APNS",
                "ControlPlane", "HTTPServer", "FCM", "Observability", "Cryptography", "JSONWebToken", "TestSupport",
                "QueueInspection",
            ]
        ),
        tests(
            "IntegrationTests",
            [
                "TestSupport", "Postgres", "PushModel", "PushSimulator", "HTTPTransport", "DeliveryQueue", "Delivery",
                "Locking", "Cryptography", "JSONWebToken", "QueueInspection", "Observability", "push-fanout",
                "push-simulator",
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
