package dev.backfill.admin;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.openqa.selenium.By;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.support.ui.WebDriverWait;

/** A real Chromium on a profile of its own, seen as an operator sees it. */
public final class Browser implements AutoCloseable {

    /** Long, because it only costs time when a test fails. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final ChromeDriver driver;
    private final Path profile;

    /** Starts one. */
    public Browser() throws IOException {
        profile = Files.createTempDirectory("console-profile");
        ChromeOptions options = new ChromeOptions();
        options.setBinary("/usr/bin/chromium");
        options.addArguments(
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--hide-scrollbars",
                "--user-data-dir=" + profile);
        driver = new ChromeDriver(
                new ChromeDriverService.Builder()
                        .usingDriverExecutable(new java.io.File("/usr/bin/chromedriver"))
                        .build(),
                options);
        size(1200, 900);
    }

    /** Whether this machine has one; .ci/run installs it. */
    public static boolean isInstalled() {
        return Files.isExecutable(Path.of("/usr/bin/chromium")) && Files.isExecutable(Path.of("/usr/bin/chromedriver"));
    }

    public void size(int width, int height) {
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", width < 500));
    }

    public void colours(String scheme) {
        driver.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
    }

    /** What Selenium itself offers. */
    public ChromeDriver driver() {
        return driver;
    }

    /** Opens the console and signs in with a token that is valid. */
    public void signIn(URI api, String token) {
        driver.get(api + "/console/");
        enter(token);
        find("[data-key=sign-out]");
    }

    public void enter(String token) {
        until("the sign-in form", () -> !driver.findElements(By.id("token")).isEmpty());
        driver.findElement(By.id("token")).sendKeys(token);
        driver.findElement(By.cssSelector(".sign-in button")).click();
    }

    public void open(String fragment) {
        driver.executeScript("location.hash = arguments[0]", fragment);
    }

    public WebElement find(String css) {
        until(
                "an element " + css,
                () -> !driver.findElements(By.cssSelector(css)).isEmpty());
        return driver.findElement(By.cssSelector(css));
    }

    public boolean shows(String css) {
        return !driver.findElements(By.cssSelector(css)).isEmpty();
    }

    public String text() {
        return driver.findElement(By.tagName("body")).getText();
    }

    public void click(String css) {
        until("a click on " + css, () -> {
            find(css).click();
            return true;
        });
    }

    /** Asks for an action and confirms it. */
    public void confirm(String action) {
        until("the action " + action, () -> find("[data-action=" + action + "]").isEnabled());
        click("[data-action=" + action + "]");
        click("dialog[open] [data-key=confirm]");
    }

    public void untilText(String expected) {
        until("the text '" + expected + "'", () -> text().contains(expected));
    }

    public void until(String what, BooleanSupplier condition) {
        new WebDriverWait(driver, PATIENCE, Duration.ofMillis(50))
                .ignoring(StaleElementReferenceException.class)
                .ignoring(org.openqa.selenium.NoSuchElementException.class)
                .ignoring(org.openqa.selenium.ElementClickInterceptedException.class)
                .withMessage(() -> what + "; the page shows: " + text())
                .until(d -> condition.getAsBoolean());
    }

    /** What axe finds wrong, as "rule: element". */
    @SuppressWarnings("unchecked")
    public List<String> accessibilityViolations() throws IOException {
        try (InputStream axe =
                Browser.class.getResourceAsStream("/META-INF/resources/webjars/axe-core/4.6.3/axe.min.js")) {
            driver.executeScript(new String(axe.readAllBytes(), StandardCharsets.UTF_8));
        }
        return (List<String>) driver.executeAsyncScript("""
                const done = arguments[arguments.length - 1];
                axe.run().then((found) => done(found.violations.flatMap((rule) =>
                    rule.nodes.map((node) => rule.id + ": " + node.html + " " + node.failureSummary))), (e) => done([String(e)]));
                """);
    }

    /** How far the page is wider than the window. */
    public long overflow() {
        return (Long) driver.executeScript(
                "return document.documentElement.scrollWidth - document.documentElement.clientWidth");
    }

    /** The whole page as a picture. */
    public void screenshot(Path file) throws IOException {
        Files.createDirectories(file.getParent());
        long width = (Long) driver.executeScript("return window.innerWidth");
        long height = (Long) driver.executeScript("return document.documentElement.scrollHeight");
        long before = (Long) driver.executeScript("return window.innerHeight");
        size((int) width, (int) Math.max(before, Math.min(height, 4_000)));
        Files.write(file, driver.getScreenshotAs(OutputType.BYTES));
        size((int) width, (int) before);
    }

    /** What is in the window, as a picture. */
    public void viewport(Path file) throws IOException {
        Files.createDirectories(file.getParent());
        Files.write(file, driver.getScreenshotAs(OutputType.BYTES));
    }

    @Override
    public void close() {
        driver.quit();
        try (Stream<Path> files = Files.walk(profile)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        } catch (IOException e) {
            // The profile is in the temporary directory; what the browser still holds open goes with that.
        }
    }
}
